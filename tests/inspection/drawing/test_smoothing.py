"""Smoothing: means by hand, and what it leaves as it is."""

import pytest

from netwright.inspection.drawing.smoothing import smoothed


def test_each_value_is_the_mean_of_those_around_it() -> None:
    values = [6.0, 0.0, 3.0, 9.0, 0.0]
    assert smoothed(values, 1) == pytest.approx((6, 3, 4, 4, 4.5))
    assert smoothed(values, 2) == pytest.approx((6, 3, 18 / 5, 12 / 4, 12 / 3))


def test_a_line_stays_but_for_its_end() -> None:
    line = [2.0 * place for place in range(20)]
    assert smoothed(line, 3)[:-3] == pytest.approx(line[:-3])
    assert smoothed(line, 0) == pytest.approx(line)
    assert smoothed([], 3) == ()
