"""A slope is held against the measured one: right, wrong, at a kink, near a kink, near zero."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from netwright.inspection.stepper.numeric_check import TOLERANCE, Check, check_slope
from tests.repetition import for_each


def checked(f: Callable[[float], float], slope: float, scale: float, size: float = 0.0) -> Check:
    def one_number(step: float) -> Tensor:
        return torch.tensor([f(step)], dtype=torch.float64)

    return check_slope(one_number, slope, scale, size)


def test_a_right_slope_is_ok() -> None:
    found = checked(lambda t: math.sin(1 + t), math.cos(1), 1.0)
    assert found.verdict == "ok"
    assert found.error < TOLERANCE / 100


@for_each("wrong", [1.001, 0.999, 2.0, -1.0, 0.0])
def test_a_wrong_slope_is_off_by_as_much_as_it_is_wrong(wrong: float) -> None:
    found = checked(lambda t: math.sin(1 + t), wrong * math.cos(1), 0.1)
    assert found.verdict == "off"
    largest = max(1, abs(wrong)) * math.cos(1)
    assert found.error == pytest.approx(abs(wrong - 1) * math.cos(1) / largest, rel=0.1)


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_at_a_kink_nothing_can_be_told(slope: float) -> None:
    assert checked(lambda t: max(0.0, t), slope, 1.0).verdict == "kink"


@pytest.mark.parametrize("distance", [3e-6, 3e-7])
def test_beside_a_kink_a_smaller_step_tells(distance: float) -> None:
    assert checked(lambda t: max(0.0, t + distance), 1.0, 1.0).verdict == "ok"
    assert checked(lambda t: max(0.0, t + distance), 0.0, 1.0).verdict == "off"


def test_the_bottom_of_a_valley_is_no_kink() -> None:
    assert checked(lambda t: t * t, 0.0, 0.0) == Check(verdict="ok", error=0.0)


def test_rounding_of_a_large_value_is_no_error() -> None:
    assert checked(lambda t: 1e6 + 0.1 * t, 0.1, 0.1).verdict == "ok"
    assert checked(lambda t: 0.1 * t, 0.1000003, 0.1, 1e3).verdict == "ok"  # of large inputs


@pytest.mark.parametrize("slope", [1e-3, 7e-3])
def test_what_is_smaller_than_its_rounding_is_not_measured(slope: float) -> None:
    assert checked(lambda t: 1e6 + 1e-3 * t, slope, slope) == Check(verdict="unclear", error=0.0)


@pytest.mark.parametrize(("right", "wrong"), [(1e-9, 7e-9), (1e-8, 3e-8), (1e-30, 1.01e-30)])
def test_a_small_slope_of_a_small_function_is_measured(right: float, wrong: float) -> None:
    assert checked(lambda t: right * t, right, right).verdict == "ok"
    assert checked(lambda t: right * t, wrong, right).verdict == "off"


def test_a_slope_that_is_no_number_is_off_unless_there_is_no_value() -> None:
    for slope in (math.nan, math.inf):
        assert checked(math.sin, slope, 1.0) == Check(verdict="off", error=math.inf)
        assert checked(lambda _: math.nan, slope, 1.0).verdict == "unclear"
    assert checked(lambda _: math.nan, 5.0, 1.0).verdict == "unclear"


@pytest.mark.parametrize(("factor", "verdict"), [(1, "ok"), (5, "off"), (1.01, "off")])
def test_near_the_end_of_a_domain_a_smaller_step_tells(factor: float, verdict: str) -> None:
    def log(step: float) -> float:
        return math.log(1e-6 + step) if step > -1e-6 else math.nan

    assert checked(log, factor * 1e6, 1e6).verdict == verdict


def test_rounding_of_a_small_step_hides_no_error_that_a_large_one_saw() -> None:
    assert checked(lambda t: math.sin(1 + t), 1.002 * math.cos(1), 0.5).verdict == "off"


def test_numbers_that_do_not_move_take_no_part() -> None:
    def masked(step: float) -> Tensor:
        return torch.tensor([-math.inf, 1e300, math.sin(step)], dtype=torch.float64)

    assert check_slope(masked, 1.0, 1.0, 0.0).verdict == "ok"


def test_a_check_is_one_word_and_a_wrong_one_cries() -> None:
    assert str(Check(verdict="ok", error=1e-9)) == "ok"
    assert str(Check(verdict="kink", error=0.5)) == "kink"
    assert str(Check(verdict="off", error=0.31)) == "OFF 3e-01"
