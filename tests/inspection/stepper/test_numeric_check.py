"""A slope is held against the measured one: right, wrong, at a kink, near a kink, near zero."""

import math

import pytest

from netwright.inspection.stepper.numeric_check import TOLERANCE, Check, check_slope


def test_a_right_slope_is_ok() -> None:
    found = check_slope(lambda t: math.sin(1 + t), math.cos(1), 1.0)
    assert found.verdict == "ok"
    assert found.error < TOLERANCE / 100


@pytest.mark.parametrize("wrong", [1.001, 0.999, 2.0, -1.0, 0.0])
def test_a_wrong_slope_is_off_by_as_much_as_it_is_wrong(wrong: float) -> None:
    found = check_slope(lambda t: math.sin(1 + t), wrong * math.cos(1), 0.1)
    assert found.verdict == "off"
    largest = max(1, abs(wrong)) * math.cos(1)
    assert found.error == pytest.approx(abs(wrong - 1) * math.cos(1) / largest, rel=1e-3)


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_at_a_kink_nothing_can_be_told(slope: float) -> None:
    assert check_slope(lambda t: max(0.0, t), slope, 1.0).verdict == "kink"


@pytest.mark.parametrize("distance", [3e-6, 3e-7])
def test_beside_a_kink_a_smaller_step_tells(distance: float) -> None:
    assert check_slope(lambda t: max(0.0, t + distance), 1.0, 1.0).verdict == "ok"
    assert check_slope(lambda t: max(0.0, t + distance), 0.0, 1.0).verdict == "off"


def test_the_bottom_of_a_valley_is_no_kink() -> None:
    assert check_slope(lambda t: t * t, 0.0, 0.0) == Check(verdict="ok", error=0.0)


def test_rounding_of_a_large_value_is_no_error() -> None:
    assert check_slope(lambda t: 1e6 + 1e-3 * t, 1e-3, 1e-3).verdict == "ok"


def test_a_check_is_one_word_and_a_wrong_one_cries() -> None:
    assert str(Check(verdict="ok", error=1e-9)) == "ok"
    assert str(Check(verdict="kink", error=0.5)) == "kink"
    assert str(Check(verdict="off", error=0.31)) == "OFF 3e-01"
