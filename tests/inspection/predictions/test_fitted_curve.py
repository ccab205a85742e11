"""The fitted curve: the model's own values, from a little before to a little after the examples."""

import math

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.predictions.fitted_curve import MOST_POINTS, PLACES, measure_fitted_curve
from tests.inspection.drawn import HOSTILE, check_sound, words_on

X = torch.tensor([[0.0], [2.0], [4.0]])


def test_curve_is_what_the_model_says() -> None:
    view = measure_fitted_curve(torch.sin, X, X, "x", "y")
    x, y = np.array(view.curve).T
    assert len(x) == PLACES
    assert (x[0], x[-1]) == pytest.approx((-0.2, 4.2))
    assert y == pytest.approx(np.sin(x), abs=1e-6)
    assert view.points == ((0.0, 0.0), (2.0, 2.0), (4.0, 4.0))


def test_the_error_is_that_of_the_examples() -> None:
    view = measure_fitted_curve(lambda x: 0 * x, X, X, "x", "y")
    assert view.rmse == pytest.approx(math.sqrt(20 / 3))
    assert 'It misses "y" by 2.582 (root mean square).' in view.caption


def test_the_feature_is_shown_in_its_own_units_and_asked_as_it_is_encoded() -> None:
    units = (torch.tensor([100.0]), torch.tensor([10.0]))
    view = measure_fitted_curve(lambda x: x, X, X, "x", "y", units)
    assert view.points == ((100.0, 0.0), (120.0, 2.0), (140.0, 4.0))
    assert view.curve[0] == pytest.approx((98.0, -0.2))


def test_of_very_many_examples_some_are_drawn_and_all_are_measured() -> None:
    x = torch.linspace(0, 1, 2 * MOST_POINTS)[:, None]
    view = measure_fitted_curve(lambda x: x, x, x, "x", "y")
    assert len(view.points) == MOST_POINTS
    assert "dots are examples (2,000 of 4,000)" in view.caption
    check_sound(view)


def test_one_example_and_hostile_names_give_a_sound_figure() -> None:
    view = measure_fitted_curve(lambda x: x, X[:1], X[:1], HOSTILE[0], HOSTILE[1])
    check_sound(view)
    assert {HOSTILE[0], HOSTILE[1], "model", "examples"} <= set(words_on(view))


def test_refusals() -> None:
    with pytest.raises(ShapeError, match=r"^inputs must have shape \(N, 1\), got \(3, 2\)$"):
        measure_fitted_curve(torch.sin, torch.ones(3, 2), X, "x", "y")
    with pytest.raises(ShapeError, match=r"^targets must have shape \(3, 1\), got \(2, 1\)$"):
        measure_fitted_curve(torch.sin, X, X[:2], "x", "y")
    with pytest.raises(ShapeError, match=r"^inputs must not be empty, got shape \(0, 1\)$"):
        measure_fitted_curve(torch.sin, X[:0], X[:0], "x", "y")
    with pytest.raises(DataError, match=r"^predictions must be finite, got nan at \[0, 0\]"):
        measure_fitted_curve(torch.log, X, X, "x", "y")
