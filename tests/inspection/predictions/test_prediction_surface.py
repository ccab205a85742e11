"""The prediction surface: what the model says at each place, and points on the same scale."""

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import ShapeError
from netwright.inspection.drawing.shown_rows import shown_rows
from netwright.inspection.predictions.prediction_surface import measure_prediction_surface
from tests.inspection.drawn import HOSTILE, check_sound, words_on


def product(inputs: Tensor) -> Tensor:
    return inputs[:, :1] * inputs[:, 1:2]


def cloud(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_every_cell_holds_what_the_model_says_there() -> None:
    inputs = cloud(30, 2)
    view = measure_prediction_surface(product, inputs, product(inputs), ("x", "y"), "z")
    x, y = np.meshgrid(*view.frame.cell_centres)
    assert np.array(view.predictions) == pytest.approx(x * y, abs=1e-5)
    assert view.point_targets == tuple(product(inputs)[:, 0].tolist())
    assert np.array(view.points) == pytest.approx(inputs.double().numpy())


def test_points_and_surface_have_one_scale_of_colours() -> None:
    inputs = cloud(30, 2)
    view = measure_prediction_surface(product, inputs, torch.full((30, 1), 99.0), "xy", "z")
    axes = view.plot().axes[0]
    low = min(min(row) for row in view.predictions)
    assert axes.images[0].get_clim() == axes.collections[0].get_clim() == (low, 99.0)
    assert axes.images[0].get_extent() == pytest.approx(view.frame.extent)
    assert axes.images[0].origin == "lower"


def test_caption_says_from_where_to_where_and_on_which_plane() -> None:
    inputs = torch.tensor([[-1.0, 0.0], [1.0, 2.0]])
    view = measure_prediction_surface(lambda part: part[:, :1], inputs, inputs[:, :1], "xy", "z")
    assert view.caption.startswith('The predicted "z" goes from -1.15 to 1.15 on this plane.')
    assert "predicted badly. The plane is that of the two features." in view.caption
    inputs = cloud(900, 4)
    view = measure_prediction_surface(product, inputs, product(inputs), (), "z")
    assert "Dots are examples (400 of 900)" in view.caption
    assert view.point_targets == tuple(product(inputs)[shown_rows(900, 400), 0].tolist())
    assert "predicted badly, or lies off the plane. The plane is a slice" in view.caption


def test_axes_are_in_the_features_own_units() -> None:
    inputs = torch.tensor([[-1.0, 0.0], [1.0, 2.0]])
    units = (torch.tensor([100.0, 0.0]), torch.tensor([10.0, 1.0]))
    view = measure_prediction_surface(product, inputs, product(inputs), "xy", "z", units)
    assert view.points == ((90.0, 0.0), (110.0, 2.0))


def test_hostile_names_and_constants_give_a_sound_figure() -> None:
    inputs = cloud(20, 2)
    view = measure_prediction_surface(
        lambda part: 0 * part[:, :1], inputs, 0 * inputs[:, :1], HOSTILE[:2], HOSTILE[3]
    )
    check_sound(view)
    assert {"<script>alert(1)</script>", r"$\frac{"} <= set(words_on(view))


def test_one_target_is_wanted() -> None:
    with pytest.raises(ShapeError, match=r"^targets must have shape \(3, 1\), got \(3, 2\)$"):
        measure_prediction_surface(product, cloud(3, 2), cloud(3, 2), "xy", "z")
