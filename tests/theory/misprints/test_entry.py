"""What a telling says: the right form passes, the wrong one does not, and what was wanted."""

import math

import pytest

from netwright.theory.misprints.entry import Telling


def telling(right: float, wrong: float) -> Telling:
    return Telling(what="length", rule="equals", bound=1.0, within=0.1, right=right, wrong=wrong)


def test_it_tells_where_only_the_right_form_passes() -> None:
    assert telling(right=1.05, wrong=2.0).tells
    assert not telling(right=1.2, wrong=2.0).tells
    assert not telling(right=1.0, wrong=1.0).tells


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_wrong_form_without_a_number_does_not_pass(wrong: float) -> None:
    assert telling(right=1.0, wrong=wrong).tells


def test_what_is_wanted_is_said_in_words() -> None:
    assert telling(right=1.0, wrong=2.0).wanted == "1 ± 0.1"
    most = Telling(what="loss", rule="at most", bound=1e-6, right=0.0, wrong=1.0)
    assert most.wanted == "at most 1e-06"
    assert most.finding(most.wrong).margin == pytest.approx(-1, abs=1e-5)
