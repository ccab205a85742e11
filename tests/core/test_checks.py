"""Checks: what passes, what is refused, and the sentence it is refused with."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.core.checks import (
    check_finite,
    check_fraction,
    check_groups,
    check_no_nul,
    check_not_negative,
    check_positive,
    check_seed,
    check_shape,
    is_finite,
    is_finite_number,
    nearest,
)
from netwright.core.errors import ConfigError, DataError, ShapeError
from tests.repetition import for_each


@for_each(
    ("name", "hint"),
    [
        ("rleu", "; did you mean 'relu'?"),
        ("RELU", "; did you mean 'relu'?"),
        ("Lenet", "; did you mean 'LeNet'?"),
        ("zzzz", ""),
        ("", ""),
    ],
)
def test_nearest_name_is_given_where_there_is_one(name: str, hint: str) -> None:
    assert nearest(name, ["tanh", "relu", "LeNet"]) == hint


def test_nearest_of_two_close_names_is_the_closer() -> None:
    assert nearest("hiddem", ["hid", "hidden"]) == "; did you mean 'hidden'?"
    assert nearest("anything", []) == ""


def test_names_too_long_to_be_typed_are_not_compared() -> None:
    assert nearest(99 * "a", [100 * "a"]) == f"; did you mean {100 * 'a'!r}?"
    assert nearest(99 * "a", [101 * "a"]) == ""
    assert nearest(101 * "a", [99 * "a"]) == ""


@settings(derandomize=True, deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_numbers_are_refused_exactly_outside_their_range(value: float) -> None:
    assert _passes(check_positive, value) == (value > 0)
    assert _passes(check_not_negative, value) == (value >= 0)
    assert _passes(check_fraction, value) == (0 <= value < 1)


def _passes(check: Callable[[str, float], None], value: float) -> bool:
    try:
        check("x", value)
    except ConfigError:
        return False
    return True


@for_each(
    ("check", "value", "sentence"),
    [
        (check_positive, 0, "lr must be positive, got 0"),
        (check_positive, math.nan, "lr must be positive, got nan"),
        (check_not_negative, -0.5, "lr must not be negative, got -0.5"),
        (check_not_negative, math.nan, "lr must not be negative, got nan"),
        (check_fraction, 1.0, "lr must lie in [0, 1), got 1.0"),
        (check_fraction, -0.1, "lr must lie in [0, 1), got -0.1"),
        (check_fraction, math.nan, "lr must lie in [0, 1), got nan"),
    ],
)
def test_refusal_says_what_was_wanted_and_got(
    check: Callable[[str, float], None], value: float, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        check("lr", value)


@pytest.mark.parametrize("seed", [0, 1, 2**70])
def test_a_seed_is_a_whole_number_from_0_on(seed: int) -> None:
    check_seed(seed)


@for_each("seed", [-1, 1.0, True, None, "1"])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    sentence = f"seed must be a non-negative integer, got {seed!r}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        check_seed(seed)


def test_a_name_that_no_file_can_have_is_refused() -> None:
    check_no_nul("path", "a b")
    with pytest.raises(
        ConfigError, match=r"^path must not contain a NUL character, got 'a\\x00b'$"
    ):
        check_no_nul("path", "a\0b")


def test_shape_matches_numbers_and_lets_letters_be_anything() -> None:
    check_shape("x", torch.zeros(2, 3), "B", 3)
    check_shape("x", torch.zeros(0, 3), "B", 3)
    check_shape("x", torch.zeros(()))


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((2, 4), "x must have shape (B, 3), got (2, 4)"),
        ((3,), "x must have shape (B, 3), got (3,)"),
        ((2, 3, 1), "x must have shape (B, 3), got (2, 3, 1)"),
    ],
)
def test_shape_that_differs_is_refused(shape: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        check_shape("x", torch.zeros(shape), "B", 3)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([[1.0, math.nan], [math.nan, 0.0]], "x must be finite, got nan at [0, 1] (2 in all)"),
        ([1.0, -math.inf], "x must be finite, got -inf at [1] (1 in all)"),
        # Their sum is NaN, not infinite: both must be found.
        ([math.inf, -math.inf], "x must be finite, got inf at [0] (2 in all)"),
    ],
)
def test_first_number_that_is_not_finite_is_named(values: list[float], sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_finite("x", torch.tensor(values))


def test_finite_numbers_pass_even_where_their_sum_overflows() -> None:
    largest = torch.finfo(torch.float32).max
    check_finite("x", torch.full((4,), largest))
    check_finite("x", torch.tensor([1, 2]))
    check_finite("x", torch.zeros(0))


@for_each(
    ("values", "finite"),
    [
        ([3e38, 3e38], True),  # the sum is infinite
        ([], True),
        ([1 + 2j], True),
        ([math.inf, -math.inf], False),
        ([0.0, math.nan], False),
        ([complex(0, math.inf)], False),
    ],
)
def test_numbers_are_finite_where_each_of_them_is(values: list[complex], finite: bool) -> None:
    assert is_finite(torch.tensor(values)) == finite


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 11), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_one_bad_number_is_found_wherever_it_is(place: int, bad: float) -> None:
    values = torch.zeros(12)
    values[place] = bad
    with pytest.raises(DataError, match=re.escape(f"at [{place}] (1 in all)")):
        check_finite("x", values)


@for_each("value", [0, -1, 2.5, 1e308])
def test_a_finite_number_is_one(value: float) -> None:
    assert is_finite_number(value)


@for_each("value", [True, None, "1", math.nan, math.inf, 10**400, [1]])
def test_what_is_no_finite_number_is_none(value: object) -> None:
    assert not is_finite_number(value)


@for_each("groups", [(0,), (0, 1, 2), (0, 0, 1, 2, 2)])
def test_groups_in_their_order(groups: tuple[int, ...]) -> None:
    check_groups("groups", groups, len(groups))


@for_each("groups", [(), (1, 2), (0, 2), (0, 1, 0), (0, "1"), (0, True), 3, [0, 1], (0, None)])
def test_groups_that_are_refused(groups: Any) -> None:
    with pytest.raises(ShapeError, match=r"^groups must number the groups of 2 features in order"):
        check_groups("groups", groups, 2)
