"""The table of next tokens: probabilities, ranks and marks by hand."""

import re

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.data.spec import IGNORED
from netwright.inspection.predictions.next_tokens import MOST_PLACES, measure_next_tokens
from tests.inspection.drawn import HOSTILE, check_sound, words_on

NAMES = ("a", " ", "\n", "b")
LOGITS = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.15, 0.05]]).log()
READ, CAME = torch.tensor([0, 1]), torch.tensor([3, 1])


def test_numbers_by_hand() -> None:
    first, second = measure_next_tokens(LOGITS, READ, CAME, NAMES.__getitem__, top=2).places
    assert [one.token for one in first.likeliest] == ["b", "⏎"]
    assert [one.probability for one in first.likeliest] == pytest.approx([0.4, 0.3])
    assert [one.is_true for one in first.likeliest] == [True, False]
    assert (first.read, first.true.token) == ("a", "b")
    assert first.true.probability == pytest.approx(0.4)
    assert [one.token for one in second.likeliest] == ["a", "⏎"]
    assert (second.read, second.true.token, second.true.is_true) == ("␣", "␣", True)
    assert second.true.probability == pytest.approx(0.1)


def test_places_that_do_not_count_are_left_out() -> None:
    came = torch.tensor([IGNORED, 1])
    view = measure_next_tokens(LOGITS, READ, came, NAMES.__getitem__)
    whole = measure_next_tokens(LOGITS, READ, CAME, NAMES.__getitem__)
    assert view.places == whole.places[1:]


def test_caption_counts_how_often_it_is_right() -> None:
    view = measure_next_tokens(LOGITS, READ, CAME, NAMES.__getitem__, top=2)
    assert view.caption.endswith(
        "The first guess is right at 50.0 % of the 2 places, the true token among the 2 at 50.0 %."
    )
    assert "b  40 %" in words_on(view)


def test_the_first_places_are_shown_and_never_more_tokens_than_there_are() -> None:
    logits = torch.zeros(100, len(HOSTILE))
    places = torch.arange(100) % len(HOSTILE)
    view = measure_next_tokens(logits, places, places, HOSTILE.__getitem__, top=9)
    assert len(view.places) == MOST_PLACES
    assert len(view.places[0].likeliest) == len(HOSTILE)
    check_sound(view)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=re.escape("targets must have shape (2), got (1,)")):
        measure_next_tokens(LOGITS, READ, CAME[:1], NAMES.__getitem__)
    with pytest.raises(ShapeError, match=r"^targets that count must not be empty"):
        measure_next_tokens(LOGITS, READ, torch.full((2,), IGNORED), NAMES.__getitem__)
