"""One measure over a run, and how it is drawn: by epoch a line with points, by step a calm line."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from netwright.inspection.drawing.figure_style import SPLIT_COLOURS, colour_of
from netwright.inspection.drawing.smoothing import smoothed
from netwright.inspection.drawing.wording import legend_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Axis = Literal["epoch", "step", "samples", "tokens", "time"]
STEP = "step"  # the split of what is noted every few updates of training
MOST_POINTS = 1000  # drawn a curve
MOST_MARKERS = 30  # a curve of more points is a line only
SMOOTH = 40  # a curve by step is smoothed over a share of it, 1 in so many to each side


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One measure on one split, with every axis it may be drawn against; all are equally long.

    What was measured within an epoch stands between two whole numbers of epochs. Only texts have
    tokens.
    """

    split: str
    name: str
    epoch: tuple[float, ...]
    step: tuple[int, ...]
    samples: tuple[int, ...]
    time: tuple[float, ...]
    value: tuple[float, ...]
    tokens: tuple[float, ...] = ()

    def along(self, axis: Axis) -> tuple[float, ...]:
        """The values of an axis."""
        positions: tuple[float, ...] = getattr(self, axis)
        return positions

    def calm(self) -> "Curve":
        """The same, smoothed."""
        reach = max(1, len(self.value) // SMOOTH)
        return replace(self, value=smoothed(self.value, reach))


def draw_curve(axes: "Axes", curve: Curve, axis: Axis) -> str:
    """The curve in the colour of its split, which is given; few points are also marked.

    What is noted by step is a faint line, with a smoothed one over it.
    """
    if curve.split == STEP:
        colour = SPLIT_COLOURS["train"]
        _draw_line(axes, curve, axis, color=colour, label="train by step", linewidth=0.8, alpha=0.3)
        _draw_line(axes, curve.calm(), axis, color=colour, label="smoothed", linewidth=1.8)
        return colour
    colour = SPLIT_COLOURS.get(curve.split, colour_of(len(SPLIT_COLOURS) + len(axes.lines)))
    is_short = len(curve.value) <= MOST_MARKERS
    _draw_line(
        axes,
        curve,
        axis,
        color=colour,
        label=legend_name(curve.split),
        marker="o" if is_short else None,
        markersize=3.5,
        linewidth=1.8 if len(curve.value) < MOST_POINTS // 2 else 1.0,
    )
    return colour


def _draw_line(axes: "Axes", curve: Curve, axis: Axis, **style: Any) -> None:
    positions, places = curve.along(axis), _drawn_places(curve.value)
    axes.plot(
        [positions[place] for place in places], [curve.value[place] for place in places], **style
    )


def _drawn_places(values: tuple[float, ...]) -> list[int]:
    """All places of a short curve; of a long one the lowest and highest of every short stretch."""
    if len(values) <= MOST_POINTS:
        return list(range(len(values)))
    stretch = math.ceil(2 * len(values) / MOST_POINTS)
    kept = {0, len(values) - 1}
    for start in range(0, len(values), stretch):
        places = range(start, min(start + stretch, len(values)))
        kept |= {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
    return sorted(kept)
