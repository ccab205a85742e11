"""Reals in shades, and the weights that are lines, by hand."""

import numpy as np
import torch

from netwright.inspection.inside.dense_units import UnitLayer
from netwright.recipes.playground.picture import (
    MOST_LAYERS,
    around_zero,
    in_shades,
    line_weights,
    shown_layers,
)


def layer_of(reads: int, units: int) -> UnitLayer:
    weights = torch.zeros(units, reads)
    weights[0, 0] = -2.0
    return UnitLayer(path="a", answers=torch.zeros(1, units), weights=weights)


def test_shades_by_hand() -> None:
    assert in_shades(np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), 0, 1).tolist() == [0, 0, 127, 255, 255]
    assert around_zero(np.array([-2.0, 0.0, 2.0])).tolist() == [1, 128, 255]
    assert around_zero(np.zeros(2)).tolist() == [128, 128]
    rows = around_zero(np.array([[1.0, -1.0], [4.0, 2.0]]), axis=1)
    assert rows.tolist() == [[255, 1], [255, 191]]


def test_a_layer_has_lines_where_it_reads_what_is_shown_before_it() -> None:
    told, arrays = line_weights([layer_of(2, 3), layer_of(5, 4), layer_of(4, 20)], inputs=2)
    assert [one["units"] for one in told] == [3, 4, 20]
    assert {name: array.shape for name, array in arrays.items()} == {
        "weights 0": (3, 2),
        "weights 2": (16, 4),
    }
    assert arrays["weights 0"][0, 0] == 1 and arrays["weights 0"][2, 1] == 128


def test_of_many_layers_the_first_and_the_last_are_shown() -> None:
    layers = [layer_of(1, units) for units in range(1, 12)]
    units = [layer.answers.shape[1] for layer in shown_layers(layers)]
    assert units == [1, 2, 3, 4, 8, 9, 10, 11] and len(units) == MOST_LAYERS
