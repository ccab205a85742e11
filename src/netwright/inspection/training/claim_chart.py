"""The chart of a claim: what it predicts as a dashed line, what was measured as dots.

Shapes: S series, of any length each.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from netwright.inspection.drawing.figure_style import INK, SMALL, colour_of, log_scale
from netwright.inspection.drawing.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Role = Literal["predicted", "measured", "line"]
MOST_DOTS = 60  # more are drawn small and pale
MOST_INSIDE = 3  # series whose legend finds room inside the axes


@dataclass(frozen=True, kw_only=True)
class Series:
    """Numbers that belong together.

    Args:
        name: for the legend.
        role: predicted (a dashed line), measured (dots), or a plain line.
        x: places.
        y: values; those that are not finite are left out.
        low: lower ends of the intervals of y; empty where there are none.
        high: upper ends.
    """

    name: str
    role: Role
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


def predicted(name: str, x: Iterable[float], y: Iterable[float]) -> Series:
    """What the claim says: a dashed line."""
    return Series(name=name, role="predicted", x=_floats(x), y=_floats(y))


def measured(
    name: str,
    x: Iterable[float],
    y: Iterable[float],
    intervals: Iterable[tuple[float, float]] = (),
) -> Series:
    """What the experiment says: dots, with their intervals where there are any."""
    ends = tuple(intervals)
    return Series(
        name=name,
        role="measured",
        x=_floats(x),
        y=_floats(y),
        low=_floats(low for low, _ in ends),
        high=_floats(high for _, high in ends),
    )


def line(name: str, x: Iterable[float], y: Iterable[float]) -> Series:
    """A measured curve that is too dense for dots."""
    return Series(name=name, role="line", x=_floats(x), y=_floats(y))


@dataclass(frozen=True, kw_only=True)
class ClaimChart(View):
    """Predicted and measured numbers on one pair of axes.

    Args:
        x_label: what lies along the horizontal axis, with its unit.
        y_label: what lies along the vertical axis.
        series: what is drawn, in the order of the legend.
        explanation: how to read it, in a sentence or two.
        log: which axes are logarithmic.
        categories: names of the places 0, 1, 2 ... where the horizontal axis has no numbers.
    """

    title: ClassVar[str] = "Predicted and measured"

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    explanation: str
    log: Literal["", "x", "y", "xy"] = ""
    categories: tuple[str, ...] = ()

    @property
    def caption(self) -> str:
        """How to read it."""
        return self.explanation

    def draw(self, figure: "Figure") -> None:
        """Each series in a colour of its own; predictions in ink."""
        axes = figure.subplots()
        if "x" in self.log:
            log_scale(axes, "x")
        if "y" in self.log:
            log_scale(axes, "y")
        colour = 0
        for series in self.series:
            if series.role == "predicted":
                self._draw_predicted(axes, series)
            else:
                self._draw_measured(axes, series, colour_of(colour))
                colour += 1
        axes.set(xlabel=self.x_label, ylabel=self.y_label)
        if self.categories:
            axes.set_xticks(range(len(self.categories)), self.categories)
            axes.set_xlim(-0.6, len(self.categories) - 0.4)
        if self.categories or len(self.series) > MOST_INSIDE:
            figure.legend(loc="outside lower center", ncol=2, fontsize=SMALL)
        else:
            axes.legend(fontsize=SMALL)

    def _draw_predicted(self, axes: "Axes", series: Series) -> None:
        x, y = self._shown(series)
        several = [other for other in self.series if other.role == "predicted"]
        # Of several predictions the k-th has the colour of the k-th measurement.
        colour = INK if len(several) == 1 else colour_of(several.index(series))
        # Above the dots, which would hide it where they lie on it.
        look: dict[str, Any] = {
            "color": colour,
            "linestyle": "--",
            "linewidth": 1.6,
            "label": series.name,
            "zorder": 4,
        }
        if self.categories:  # a line between names would mean nothing
            axes.scatter(x, y, marker="_", s=900, linewidths=2.2, color=colour, zorder=2)
            # The legend shows a short line: a bar as wide as these would look like data.
            axes.plot([], [], color=colour, linewidth=2.2, label=series.name)
        elif len(x) == 1:
            axes.axhline(y[0], **look)
        else:
            axes.plot(x, y, **look)

    def _draw_measured(self, axes: "Axes", series: Series, colour: str) -> None:
        x, y = self._shown(series)
        if series.role == "line":
            axes.plot(x, y, color=colour, label=series.name)
            return
        many = len(x) > MOST_DOTS
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": "o",
            "markersize": 3 if many else 6,
            "alpha": 0.6 if many else 1.0,
            "color": colour,
            "label": series.name,
            "zorder": 3,
        }
        if series.low:
            below = [max(0.0, value - end) for value, end in zip(series.y, series.low, strict=True)]
            above = [
                max(0.0, end - value) for value, end in zip(series.y, series.high, strict=True)
            ]
            axes.errorbar(series.x, series.y, yerr=(below, above), capsize=3, **look)
        else:
            axes.plot(x, y, **look)

    def _shown(self, series: Series) -> tuple[list[float], list[float]]:
        """The points that have a place on these axes."""
        pairs = [
            (x, y)
            for x, y in zip(series.x, series.y, strict=True)
            if math.isfinite(x)
            and math.isfinite(y)
            and ("x" not in self.log or x > 0)
            and ("y" not in self.log or y > 0)
        ]
        return [x for x, _ in pairs], [y for _, y in pairs]


def _floats(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
