"""Descent paths: where optimizers go on a surface of two variables, seen from above.

Shapes: G cells along each side, T steps, (x, y) a place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import FAINT, INK, SMALL, colour_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELLS = 121
LEVELS = 16  # contours, evenly spaced in the logarithm
DEEPEST = 1e-4  # of the highest place: below it no further contour

Place = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """The way of one optimizer.

    Args:
        name: whose it is.
        places: the places that it visits, the start included, as long as they are finite.
        value: the height of the last one; None where it ran away, above the start.
    """

    name: str
    places: tuple[Place, ...]
    value: float | None


@dataclass(frozen=True, kw_only=True)
class DescentPaths(View):
    """A surface as contours, and the paths of optimizers over it.

    Args:
        surface: its name.
        formula: its height, as text.
        x_range: the part of the first axis that is shown.
        y_range: the part of the second one.
        heights: of the cells, (G, G), row by row from below.
        minima: the lowest places.
        descents: one an optimizer; all from one start.
    """

    title: ClassVar[str] = "Descent paths"

    surface: str
    formula: str
    x_range: Place
    y_range: Place
    heights: tuple[tuple[float, ...], ...]
    minima: tuple[Place, ...]
    descents: tuple[Descent, ...]

    @property
    def size(self) -> tuple[float, float]:
        """The surface, and the legend beside it."""
        return (8.6, 5.0)

    @property
    def caption(self) -> str:
        """What is drawn, and who ended lowest."""
        arrived = [descent for descent in self.descents if descent.value is not None]
        best = min(arrived, key=lambda descent: descent.value or 0.0, default=None)
        winner = (
            "All of them diverged."
            if best is None
            else f"After {len(best.places) - 1:,} steps {best.name} is lowest, at "
            f"{number(best.value or 0.0)}."
        )
        return (
            f"{self.surface.capitalize()}, {self.formula}, from above: darker is lower, and "
            f"contours are spaced by a constant factor. All paths begin at the circle; stars are "
            f"minima. {winner}"
        )

    def draw(self, figure: "Figure") -> None:
        """Contours, then paths, then the start and the minima on top."""
        axes = figure.subplots()
        self._draw_surface(axes)
        for index, descent in enumerate(self.descents):
            self._draw_descent(axes, descent, index)
        x, y = self.descents[0].places[0]
        axes.plot(x, y, "o", markersize=9, color="white", markeredgecolor=INK, zorder=6)
        for x, y in self.minima:
            axes.plot(x, y, "*", markersize=16, color="#FFD400", markeredgecolor=INK, zorder=6)
        axes.set(xlim=self.x_range, ylim=self.y_range, xlabel="x", ylabel="y")
        axes.set_title(f"{self.surface}: {self.formula}", fontsize=10)
        axes.grid(visible=False)
        figure.legend(loc="outside right upper", fontsize=SMALL, title="height after the last step")

    def _draw_surface(self, axes: "Axes") -> None:
        heights = np.array(self.heights)
        top = float(heights.max())
        levels = np.geomspace(DEEPEST * top, top, LEVELS)
        x = np.linspace(*self.x_range, heights.shape[1])
        y = np.linspace(*self.y_range, heights.shape[0])
        shades = np.log10(heights.clip(min=DEEPEST * top))
        axes.contourf(x, y, shades, levels=np.log10(levels), cmap="Blues_r", alpha=0.45)
        axes.contour(x, y, heights, levels=levels, colors=FAINT, linewidths=0.5, alpha=0.7)

    def _draw_descent(self, axes: "Axes", descent: Descent, index: int) -> None:
        from matplotlib import patheffects  # noqa: PLC0415 - matplotlib costs a second

        colour = colour_of(index)
        halo = [patheffects.withStroke(linewidth=3.2, foreground="white", alpha=0.8)]
        look: dict[str, Any] = {"color": colour, "path_effects": halo, "zorder": 3 + 0.1 * index}
        x, y = zip(*descent.places, strict=True)
        axes.plot(x, y, linewidth=1.7, **look)
        axes.plot(x[-1], y[-1], "o", color=colour, markeredgecolor="white", markersize=7, zorder=5)
        label = f"{legend_name(descent.name)}: {_told(descent.value)}"
        axes.plot([], [], color=colour, linewidth=2.4, label=label)


def _told(value: float | None) -> str:
    """A height in two digits; heights differ by many powers of ten."""
    return "diverged" if value is None else f"{value:.2g}"


def measure_descent_paths(
    surface: str,
    formula: str,
    height: Callable[[Tensor], Tensor],
    paths: Mapping[str, Tensor],
    *,
    minima: Sequence[Place],
    x_range: Place,
    y_range: Place,
) -> DescentPaths:
    """Take the heights of a grid, and of the end of each path.

    Args:
        surface: its name.
        formula: its height, as text.
        height: places (..., 2) -> heights (...), least 0.
        paths: name -> places (T + 1, 2).
        minima: the lowest places.
        x_range: the part of the first axis to show.
        y_range: the part of the second one.
    """
    for name, path in paths.items():
        check_shape(name, path, "T", 2)
    x, y = (torch.linspace(*ends, CELLS, dtype=torch.float64) for ends in (x_range, y_range))
    rows, columns = torch.meshgrid(y, x, indexing="ij")
    heights = height(torch.stack((columns, rows), dim=-1))
    return DescentPaths(
        surface=surface,
        formula=formula,
        x_range=x_range,
        y_range=y_range,
        heights=tuple(map(tuple, heights.tolist())),
        minima=tuple(minima),
        descents=tuple(_descent(name, path, height) for name, path in paths.items()),
    )


def _descent(name: str, path: Tensor, height: Callable[[Tensor], Tensor]) -> Descent:
    heights = height(path)
    lasting = int(heights.isfinite().cumprod(0).sum())  # places before the first that is not
    places: tuple[Place, ...] = tuple((x, y) for x, y in path[:lasting].tolist())
    stayed = lasting == len(path) and bool(heights[-1] <= heights[0])
    value = float(heights[-1]) if stayed else None
    return Descent(name=name, places=places, value=value)
