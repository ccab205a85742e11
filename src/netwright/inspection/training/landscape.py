"""The loss landscape: the loss on a plane through the weights, and the path that training took.

A loss has one dimension a weight, and of all of them a plane shows two. So heights beside the path
are those of the plane; the losses of the path itself are measured too, and drawn beside it.

Shapes: G cells along each side, S snapshots, P weights.
Source: Li, Xu, Taylor, Studer and Goldstein, "Visualizing the Loss Landscape of Neural Nets"
(2018); Goodfellow, Vinyals and Saxe, "Qualitatively Characterizing Neural Network Optimization
Problems" (2015).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from annotated_types import Ge
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.config import Config, Count, Doc, Positive
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.figure_style import COLOURS, INK, SMALL, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, percent
from netwright.inspection.training.weight_plane import (
    WeightPlane,
    flatten,
    path_plane,
    random_plane,
    unflatten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

Place = tuple[float, float]
CELLS = 17
LEVELS = 14  # shades
DECADE = 10.0  # losses that span more are drawn on a logarithmic axis
MARGIN = 1.3  # how much wider the plane is than the path
LEAST_SIDE = 0.2  # of the longer side: a path that is nearly straight gets room beside it
PATH, STAR = COLOURS[1], "#FFD400"


@dataclass(frozen=True, kw_only=True)
class PlaneConfig(Config):
    """Which plane is looked at, and how finely."""

    kind: Annotated[
        Literal["auto", "path", "random"],
        Doc(
            "the plane of the training path, or two random directions; auto: random where there "
            "is no path"
        ),
    ] = "auto"
    cells: Annotated[
        Annotated[int, Ge(2)] | None,
        Doc(f"cells along each side; default: {CELLS}, fewer where a pass over the data is slow"),
    ] = None
    span: Annotated[
        Positive, Doc("1 reaches a little beyond the path, or as far as the norm of the weights")
    ] = 1.0
    seed: Annotated[Count, Doc("random seed of the directions")] = 0


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One moment of the path.

    Args:
        step: updates that were made.
        place: where it lies in the plane, (a, b).
        loss: its true loss; None where that is not finite.
        shadow: the loss of the plane at its place.
    """

    step: int
    place: Place
    loss: float | None
    shadow: float | None


@dataclass(frozen=True, kw_only=True)
class Landscape(View):
    """Heights of a plane, the kept weights at (0, 0), and the path where there is one.

    Args:
        rows: examples that the loss is the mean of.
        loss: of the kept weights.
        first: places along the first direction, (G,).
        second: places along the second one, (G,).
        heights: losses, (G, G), row by row from below; None where they are not finite.
        path: snapshots of training, in order; empty on a random plane.
        shares: of the path's squared distances from the kept weights, along the two directions.
        has_statistics: whether the model has batch norms, whose statistics stay as they are.
    """

    title: ClassVar[str] = "Loss landscape"

    rows: int
    loss: float | None
    first: tuple[float, ...]
    second: tuple[float, ...]
    heights: tuple[tuple[float | None, ...], ...]
    path: tuple[Snapshot, ...]
    shares: tuple[float, float]
    has_statistics: bool

    @property
    def size(self) -> tuple[float, float]:
        """The plane, and beside it the losses along the path."""
        return (10.0, 4.6) if self.path else (5.8, 4.8)

    @property
    def caption(self) -> str:
        """Which plane it is, how low its middle is, and what the path says beyond it."""
        words = (
            f"The loss on {self.rows:,} training examples, without penalties, around the weights "
            f"that were kept (star), where it is {_told(self.loss)}. "
        )
        if self.path:
            start, end = self.path[0], self.path[-1]
            words += (
                f"The plane holds {percent(sum(self.shares))} of the path's squared distances "
                f"from there: its two principal directions. The path has {len(self.path)} "
                f"snapshots, from the circle (step {start.step:,}, loss {_told(start.loss)}) to "
                f"step {end.step:,} (loss {_told(end.loss)}). On the right its true losses: where "
                "the plane differs, the path runs outside of it."
            )
        else:
            words += (
                "The two directions are random; each filter of them is as long as that of the "
                "weights, so 1 is a change as large as the weights themselves."
            )
        if self.has_statistics:
            words += " Batch norm uses the statistics of the kept weights everywhere."
        return words

    def table_rows(self) -> list[dict[str, str]]:
        """The path, a snapshot a row."""
        return [
            {
                "step": f"{one.step:,}",
                "loss": _told(one.loss),
                "loss on the plane": _told(one.shadow),
                "first direction": number(one.place[0]),
                "second direction": number(one.place[1]),
            }
            for one in self.path
        ]

    def draw(self, figure: "Figure") -> None:
        """The plane from above; beside it the path from the side."""
        if not self.path:
            self._draw_plane(figure.subplots())
            return
        plane, profile = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
        self._draw_plane(plane)
        self._draw_path(plane)
        self._draw_profile(profile)

    def _draw_plane(self, axes: "Axes") -> None:
        heights = np.array(self.heights, dtype=float)  # None becomes NaN, which is left blank
        shades, lines = _levels(heights)
        cells = (self.first, self.second, heights)
        axes.contourf(*cells, levels=shades, cmap="Blues_r", norm=_norm(shades))
        drawn = axes.contour(*cells, levels=lines, colors=INK, linewidths=0.6)
        for label in axes.clabel(drawn, fmt=lambda level: f"{level:.4g}", fontsize=SMALL):
            label.set_path_effects(_halo(2.4))
        axes.plot(0.0, 0.0, "*", markersize=17, color=STAR, markeredgecolor=INK, zorder=6)
        names = [
            f"along the {name} direction ({percent(share)} of the path)"
            if self.path
            else f"{name} direction (1: as long as the weights)"
            for name, share in zip(("first", "second"), self.shares, strict=True)
        ]
        axes.set(xlabel=names[0], ylabel=names[1], title="loss from above (darker is lower)")
        axes.grid(visible=False)

    def _draw_path(self, axes: "Axes") -> None:
        x, y = zip(*(one.place for one in self.path), strict=True)
        look: dict[str, Any] = {"color": PATH, "zorder": 5, "path_effects": _halo(3.6)}
        axes.plot(x, y, "-", linewidth=1.8, **look)
        axes.plot(x, y, "o", markersize=4.5, color=PATH, markeredgecolor="white", zorder=5)
        axes.plot(x[0], y[0], "o", markersize=10, color="white", markeredgecolor=INK, zorder=6)

    def _draw_profile(self, axes: "Axes") -> None:
        steps = [one.step for one in self.path]
        lines: tuple[tuple[str, list[float], dict[str, Any]], ...] = (
            ("on the plane", _drawn([one.shadow for one in self.path]), {"ls": "--", "color": INK}),
            ("of the path", _drawn([one.loss for one in self.path]), {"ls": "-", "color": PATH}),
        )
        for label, values, look in lines:
            axes.plot(steps, values, marker="o", markersize=4.5, label=label, **look)
        known = [value for _, values, _ in lines for value in values if math.isfinite(value)]
        if known and max(known) > DECADE * min(known) > 0:
            log_scale(axes, "y")
        axes.set(xlabel="step", ylabel="loss", title="loss along the path")
        axes.legend(fontsize=SMALL)


def measure_landscape(
    loss: Callable[[dict[str, Tensor]], float],
    weights: Mapping[str, Tensor],
    path: Mapping[int, Mapping[str, Tensor]],
    plane: PlaneConfig,
    *,
    rows: int,
    has_statistics: bool = False,
) -> Landscape:
    """Take the loss on a grid of weights.

    Args:
        loss: weights by name -> the loss; it changes nothing.
        weights: the kept ones: the middle, or what the path is seen from.
        path: step -> the weights then, S of them; may be empty.
        plane: which one, and how finely.
        rows: examples that the loss is the mean of.
        has_statistics: whether the model has batch norms, whose statistics stay as they are.
    """
    centre = flatten(weights)
    points = [flatten({name: then[name] for name in weights}) for then in path.values()]
    chosen = _choose(plane, weights, centre, points)

    def height(vector: Tensor) -> float | None:
        value = loss(unflatten(vector, weights))
        return value if math.isfinite(value) else None

    def height_at(*place: float) -> float | None:
        return height(centre + torch.tensor(place, dtype=torch.float64) @ chosen.directions)

    first, second = _sides(chosen.places, plane)
    return Landscape(
        rows=rows,
        loss=height(centre),
        first=first,
        second=second,
        heights=tuple(tuple(height_at(a, b) for a in first) for b in second),
        path=tuple(
            Snapshot(step=step, place=(a, b), loss=height(point), shadow=height_at(a, b))
            for step, point, (a, b) in zip(path, points, chosen.places.tolist(), strict=False)
        ),
        shares=chosen.shares,
        has_statistics=has_statistics,
    )


def _choose(
    plane: PlaneConfig, weights: Mapping[str, Tensor], centre: Tensor, points: list[Tensor]
) -> WeightPlane:
    found = path_plane(centre, torch.stack(points)) if points and plane.kind != "random" else None
    if found is None and plane.kind == "path":
        raise ConfigError(
            f"the plane of the path needs a path that is not straight, the run has {len(points)} "
            f"snapshots: set kind to random"
        )
    return found or random_plane(weights, plane.seed)


def _sides(places: Tensor, plane: PlaneConfig) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The places of the cells along each direction: around the path, or around the middle."""
    ends = torch.tensor([[-1.0, -1.0], [1.0, 1.0]], dtype=torch.float64)
    if len(places):
        seen = torch.cat([places, torch.zeros(1, 2, dtype=torch.float64)])  # the kept weights too
        low, high = seen.amin(0), seen.amax(0)
        half = MARGIN * (high - low) / 2
        half = half.clamp(min=LEAST_SIDE * float(half.max()))
        ends = (low + high) / 2 + ends * half
    middle = ends.mean(0)
    low, high = middle + plane.span * (ends - middle)
    first, second = (
        tuple(torch.linspace(float(low[axis]), float(high[axis]), plane.cells or CELLS).tolist())
        for axis in range(2)
    )
    return first, second


def _levels(heights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Heights between which shades change, in the logarithm if they can, and those of the lines."""
    from matplotlib.ticker import LogLocator, MaxNLocator  # noqa: PLC0415 - it costs a second

    known = heights[np.isfinite(heights)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if not high > low:
        return np.array([low, low + 1.0]), np.array([low])  # flat
    spacing = np.geomspace if low > 0 else np.linspace
    is_wide = low > 0 and high > 4 * low  # 1, 2, 5, 10 ... are heights within it
    lines = LogLocator(subs=(1.0, 2.0, 5.0)) if is_wide else MaxNLocator(7)
    return spacing(low, high, LEVELS), np.array(lines.tick_values(low, high))


def _norm(levels: NDArray[np.float64]) -> "Normalize":
    from matplotlib.colors import LogNorm, Normalize  # noqa: PLC0415 - matplotlib costs a second

    return (LogNorm if levels[0] > 0 else Normalize)(levels[0], levels[-1])


def _halo(width: float) -> "list[AbstractPathEffect]":
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - matplotlib costs a second

    return [withStroke(linewidth=width, foreground="white")]


def _drawn(values: Iterable[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _told(value: float | None) -> str:
    return "not finite" if value is None else number(value)
