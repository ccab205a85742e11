"""Lift: gains worked by hand, equal probabilities, weights, and refusals."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.inspection.predictions.lift import Lift, measure_lift
from tests.inspection.drawn import check_sound


def measure(chances: list[float], is_one: list[int], weights: Tensor | None = None) -> Lift:
    second = torch.tensor(chances, dtype=torch.float64)
    probabilities = torch.stack((1 - second, second), dim=1)
    return measure_lift(torch.tensor(is_one), probabilities, "yes", weights)


def gain(view: Lift, share: float) -> float:
    return view.gains[view.shares.index(share)]


def test_the_first_rows_hold_what_they_hold() -> None:
    """Ten rows, four of them yes, at the places 1, 2, 4 and 10 of the order."""
    view = measure(
        [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [1, 1, 0, 1, 0, 0, 0, 0, 0, 1]
    )
    assert view.base_rate == pytest.approx(0.4)
    assert [gain(view, q) for q in (0.1, 0.2, 0.3, 0.4, 1.0)] == pytest.approx(
        [0.25, 0.5, 0.5, 0.75, 1.0]
    )
    assert view.lifts[view.shares.index(0.2)] == pytest.approx(2.5)
    assert "The first 10 % of the rows hold 25.0 % of yes, 2.50 times as many." in view.caption
    assert view.table_rows()[1] == {"first rows": "10 %", "found": "25.0 %", "lift": "2.50"}
    check_sound(view)


def test_equal_probabilities_find_no_more_than_chance() -> None:
    view = measure([0.5] * 4, [1, 0, 0, 1])
    assert view.gains == pytest.approx(view.shares)


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    once = measure([0.9, 0.8, 0.8, 0.1], [1, 0, 0, 1])
    weighed = measure([0.9, 0.8, 0.1, 0.7], [1, 0, 1, 1], torch.tensor([1.0, 2.0, 1.0, 0.0]))
    assert weighed.gains == pytest.approx(once.gains)


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(DataError, match="both classes that count"):
        measure([0.5, 0.6], [1, 1])
    with pytest.raises(DataError, match="both classes that count"):
        measure([0.5, 0.6], [1, 0], torch.tensor([1.0, 0.0]))
