"""Forecasts over time: the numbers by hand, what is drawn, and how much of it."""

import math
import re

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.predictions.forecast import (
    MOST_OUTPUTS,
    MOST_POINTS,
    SHOWN,
    measure_forecast,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on


def test_numbers_by_hand() -> None:
    true = torch.tensor([[1.0], [3.0], [2.0]])
    view = measure_forecast(true, true + 2, ("volume",), torch.tensor([[0.0], [1.0], [3.0]]))
    (output,) = view.outputs
    assert output.rmse == pytest.approx(2.0)
    assert output.persistence_rmse == pytest.approx(math.sqrt((1 + 4 + 1) / 3))
    assert (output.true, output.predicted) == ((1.0, 3.0, 2.0), (3.0, 5.0, 4.0))
    assert (view.smoothed, view.places) == (1, (0, 1, 2))
    assert output.errors == pytest.approx((2.0, 2.0, 2.0))
    assert output.persistence_errors == pytest.approx((1.0, 2.0, 1.0))
    assert view.caption.startswith(
        '"volume" is off by 2 (root mean square); repeating the last known value, by 1.414.'
    )


def test_a_running_error_is_that_of_its_neighbours() -> None:
    errors = torch.arange(40.0)[:, None]
    view = measure_forecast(torch.zeros(40, 1), errors, ("y",))
    assert view.smoothed == 4 and "of 4 neighbours" in view.caption
    few = measure_forecast(torch.zeros(4, 1), errors[:4], ("y",))
    assert few.caption.endswith("each point one window.")
    expected = [float(errors[place : place + 4].square().mean().sqrt()) for place in view.places]
    assert view.places == tuple(range(37))
    assert view.outputs[0].errors == pytest.approx(expected)
    assert view.outputs[0].persistence_rmse is None
    assert "last known" not in view.caption
    assert "last value repeated" not in words_on(view)


@pytest.mark.slow
def test_of_very_many_windows_the_last_are_drawn_and_all_are_measured() -> None:
    values = torch.randn(5_000, len(HOSTILE), generator=torch.Generator().manual_seed(0))
    view = measure_forecast(values, values + 1, HOSTILE, values - 1)
    assert len(view.outputs) == MOST_OUTPUTS
    assert view.outputs[1].true == tuple(values[-SHOWN:, 1].tolist())
    assert len(view.places) == len(view.outputs[0].errors) == MOST_POINTS
    assert (view.places[0], view.places[-1]) == (0, 5_000 - 50)
    check_sound(view)


def test_what_does_not_fit_is_refused() -> None:
    true = torch.zeros(3, 1)
    with pytest.raises(DataError, match=re.escape("target_names must hold 1 names, got 2")):
        measure_forecast(true, true, ("a", "b"))
    with pytest.raises(ShapeError, match=re.escape("persistence must have shape (3, 1), got (3,)")):
        measure_forecast(true, true, ("a",), torch.zeros(3))
