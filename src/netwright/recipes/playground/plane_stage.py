"""A model of two features on their plane: its regions, and what each of its units answers there.

Shapes: G cells along each side of the plane, g along each side of a unit's picture, U units of a
layer, N points.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.data.dataset import Split
from netwright.data.loading.stored import evenly_spaced
from netwright.inspection.inside.dense_units import UnitLayer, measure_units
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.playground.picture import (
    MOST_UNITS,
    Bytes,
    Picture,
    around_zero,
    in_shades,
    line_weights,
    shown_layers,
)

CELLS = (32, 24, 12)  # along each side; fewer for a model that takes long
UNIT_CELLS = 16
MARGIN = 0.15  # of the spread of the points, on each side
MOST_POINTS = 600


class PlaneStage:
    """The plane of two features.

    Args:
        prepared: a model of two features.
        cells: along each side of the plane.
    """

    def __init__(self, prepared: Prepared, cells: int = CELLS[0]) -> None:
        self.prepared, self.cells = prepared, cells
        self.low, self.high = _window(prepared.data.train.inputs.float())
        place = (torch.arange(cells) + 0.5) / cells
        x = self.low[0] + (self.high[0] - self.low[0]) * place
        y = self.high[1] - (self.high[1] - self.low[1]) * place  # from above, as pictures are
        self.grid = torch.cartesian_prod(y, x).flip(1).contiguous()  # (G G, 2)
        stride = max(1, cells // UNIT_CELLS)
        places = torch.arange(cells * cells).view(cells, cells)
        self.unit_places = places[::stride, ::stride].flatten()  # (g g,)
        targets = prepared.data.train.targets.float()
        self.range = (float(targets.amin()), float(targets.amax()))

    def opening(self) -> Picture:
        """The points, what the axes and the classes are called, and what was done to the data."""
        data, spec = self.prepared.data, self.prepared.data.spec
        told: dict[str, Any] = {
            "stage": "plane",
            "target": spec.target,
            "classes": list(spec.class_names),
            "features": list(spec.feature_names) or ["x1", "x2"],
            "x": [float(self.low[0]), float(self.high[0])],
            "y": [float(self.low[1]), float(self.high[1])],
            "range": self.range,
            "notes": list(data.notes),
            "points": {
                name: _points(split) for name, split in data.splits() if name in {"train", "val"}
            },
        }
        return Picture(numbers=told)

    def look_at(self, pixels: Sequence[int]) -> None:
        """Refused: there are no images."""
        raise ConfigError(f"{self.prepared.data.name} has two features, and no images to look at")

    def draw(self, *, with_units: bool = True) -> Picture:
        """The regions and the units as they are now."""
        prepared = self.prepared
        with np.errstate(invalid="ignore"):  # weights that are no numbers any more
            if not with_units:
                with evaluating(prepared.model):
                    output = prepared.model(self.grid)
                return Picture(numbers={}, arrays=self._regions(prepared.task.predictions(output)))
            output, found = measure_units(prepared.model, self.grid)
            layers = shown_layers(found)
            told, arrays = line_weights(layers, inputs=2)
            arrays |= self._regions(prepared.task.predictions(output))
            if layers:
                arrays["units"] = self._units(layers)
        return Picture(numbers={"layers": told}, arrays=arrays)

    def _regions(self, answers: Tensor) -> dict[str, Bytes]:
        """What it answers all over the plane, (K, G, G): probabilities, or the first number."""
        size, is_class = (-1, self.cells, self.cells), self.prepared.data.spec.target == "class"
        shown = (answers if is_class else answers[:, :1]).numpy().T.reshape(size)
        return {"answers": in_shades(shown, *((0.0, 1.0) if is_class else self.range))}

    def _units(self, layers: Sequence[UnitLayer]) -> Bytes:
        """What the units of all layers answer, (U, g, g), each in shades of its own."""
        parts = [layer.answers[:, :MOST_UNITS] for layer in layers]
        whole = torch.cat(parts, dim=1).index_select(0, self.unit_places).T.contiguous()
        side = math.isqrt(len(self.unit_places))
        return around_zero(whole.numpy(), axis=1).reshape(-1, side, side)


def _window(points: Tensor) -> tuple[Tensor, Tensor]:
    """Two corners (2,) around points (N, 2): of the unit square, or with a margin; a square."""
    if float(points.abs().amax()) <= 1:  # so it is as it was when a point is painted
        return -torch.ones(2), torch.ones(2)
    low, high = points.amin(dim=0), points.amax(dim=0)
    half = ((high - low) / 2).amax() * (1 + 2 * MARGIN)
    return (low + high) / 2 - half, (low + high) / 2 + half


def choose_plane(prepared: Prepared, seconds: float, clock: Callable[[], float]) -> PlaneStage:
    """A stage of as many cells as the model answers in time; of the fewest, where in none."""
    for cells in CELLS:
        stage = PlaneStage(prepared, cells)
        began = clock()
        with evaluating(prepared.model):
            prepared.model(stage.grid)
        if clock() - began <= seconds:
            break
    return stage


def _points(split: Split) -> list[list[float]]:
    """Some of the rows: both features, and the class or the number."""
    rows = evenly_spaced(len(split), min(len(split), MOST_POINTS))
    inputs, targets = split.inputs[rows].flatten(1), split.targets[rows].float().view(len(rows), -1)
    return [
        [round(float(value), 4) for value in row]
        for row in torch.cat([inputs, targets[:, :1]], dim=1)
    ]
