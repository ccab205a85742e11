"""What a person sees of a model while it learns: a few numbers, and arrays of bytes.

Shapes: U units of a layer, D inputs of a layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from netwright.inspection.inside.dense_units import UnitLayer

Bytes = NDArray[np.uint8]
Reals = NDArray[np.floating[Any]]
T = TypeVar("T")
MOST_UNITS = 16  # of a layer that are shown
MOST_LAYERS = 8


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One moment of training.

    Args:
        numbers: steps, losses, what the arrays hold; plain values for JSON.
        arrays: pictures and weights in 256 shades, by name.
    """

    numbers: Mapping[str, Any]
    arrays: Mapping[str, Bytes] = field(default_factory=dict)


class Stage(Protocol):
    """What a model is shown on: a plane of two features, or an image."""

    def opening(self) -> Picture:
        """What does not change while the model learns."""

    def look_at(self, pixels: Sequence[int]) -> None:
        """Show what the model makes of this image; refused where it reads none."""

    def draw(self, *, with_units: bool = True) -> Picture:
        """What the model makes of it now; without its units that takes a third of the time."""


def in_shades(values: Reals, low: float, high: float) -> Bytes:
    """Reals as bytes: `low` and all below is 0, `high` and all above 255."""
    share = (values - low) / (high - low if high > low else 1.0)
    shades: Bytes = (share.clip(0, 1) * 255).astype(np.uint8)
    return shades


def around_zero(values: Reals, axis: int | None = None) -> Bytes:
    """Reals as bytes in which 0 is 128, and the largest of all, or along an axis, 1 or 255."""
    largest = np.abs(values).max(axis=axis, keepdims=True, initial=1e-12)
    shades: Bytes = (values / largest * 127 + 128).astype(np.uint8)
    return shades


def shown_layers(layers: Sequence[T]) -> Sequence[T]:
    """The first and the last layers, where there are many."""
    half = MOST_LAYERS // 2
    return layers if len(layers) <= MOST_LAYERS else [*layers[:half], *layers[-half:]]


def line_weights(
    layers: Sequence[UnitLayer], inputs: int, first: int = 0
) -> tuple[list[dict[str, Any]], dict[str, Bytes]]:
    """What is said of each layer, and the weights of the lines into it.

    A line leads from a unit that is shown to a unit that is shown. A layer that does not read the
    one before it has none: something else stands between the two.

    Args:
        layers: that are shown.
        inputs: how many inputs are shown before the first.
        first: its number among all layers that are shown.
    """
    told, arrays, width = [], {}, inputs
    for place, layer in enumerate(layers, start=first):
        units, reads = layer.weights.shape
        if reads == width:
            shown = layer.weights.numpy()[:MOST_UNITS, :MOST_UNITS]
            arrays[f"weights {place}"] = around_zero(shown)
        told.append({"path": layer.path, "units": units})
        width = units
    return told, arrays
