"""Learning curves: how loss and measures moved on training and validation data over a run."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from netwright.core.errors import DataError
from netwright.inspection.figure_style import FAINT, SPLIT_COLOURS, colour_of, log_scale
from netwright.inspection.view import View
from netwright.inspection.wording import legend_name, number, short_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Axis = Literal["epoch", "step", "samples", "time"]
AXIS_LABELS = {"epoch": "epoch", "step": "step", "samples": "examples seen", "time": "seconds"}
LOG_DECADES = 1.5  # a loss that spans more than this is drawn on a logarithmic axis
MOST_POINTS = 1000  # drawn a curve
MOST_MARKERS = 30  # a curve of more points is a line only
WIDTH, HEIGHT = 5.0, 3.3  # of a panel, in inches


class Measurement(Protocol):
    """A row of a history: what was measured, and when."""

    @property
    def epoch(self) -> int:
        """Passes so far."""

    @property
    def step(self) -> int:
        """Updates so far."""

    @property
    def samples(self) -> int:
        """Examples seen so far."""

    @property
    def time(self) -> float:
        """Seconds so far."""

    @property
    def split(self) -> str:
        """train, val or test."""

    @property
    def name(self) -> str:
        """loss, accuracy ..."""

    @property
    def value(self) -> float:
        """The number."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One measure on one split, with every axis it may be drawn against; all are equally long."""

    split: str
    name: str
    epoch: tuple[int, ...]
    step: tuple[int, ...]
    samples: tuple[int, ...]
    time: tuple[float, ...]
    value: tuple[float, ...]

    def along(self, axis: Axis) -> tuple[float, ...]:
        """The values of an axis."""
        positions: tuple[float, ...] = getattr(self, axis)
        return positions


@dataclass(frozen=True, kw_only=True)
class Curves(View):
    """All that was measured over a run, one panel a measure.

    Args:
        curves: one a measure and split, in the order of the history.
        best_epoch: the one whose weights were kept; None marks nothing.
        axis: what is drawn to the right.
        is_small: half the size, for a place between other things.
    """

    title: ClassVar[str] = "Learning curves"
    curves: tuple[Curve, ...]
    best_epoch: int | None = None
    axis: Axis = "epoch"
    is_small: bool = False

    def along(self, axis: Axis) -> "Curves":
        """The same curves against epochs, steps, examples seen or seconds."""
        return replace(self, axis=axis)

    def small(self) -> "Curves":
        """The same curves at half the size."""
        return replace(self, is_small=True)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the panels: the loss, then the others as they came.

        What was measured once has none, beside curves that move.
        """
        moving = dict.fromkeys(curve.name for curve in self.curves if len(curve.value) > 1)
        names = moving or dict.fromkeys(curve.name for curve in self.curves)
        return tuple(sorted(names, key=lambda name: name != "loss"))

    @property
    def size(self) -> tuple[float, float]:
        """Two panels side by side."""
        columns, rows = _grid(len(self.measures))
        scale = 0.6 if self.is_small else 1.0
        return (scale * max(1.2, columns) * WIDTH, scale * rows * HEIGHT)

    @property
    def caption(self) -> str:
        """Where each curve of the first measure began and ended, and the best epoch."""
        first = self.measures[0]
        words = f"{self._moves(first)}, against {AXIS_LABELS[self.axis]}.{self._pace}"
        if self._is_log(first):
            words += " Its axis is logarithmic."
        if self.best_epoch is not None:
            words += f" The best epoch, {self.best_epoch}, is marked; its weights were kept."
        once = dict.fromkeys(curve.name for curve in self.curves if curve.name not in self.measures)
        if once:
            words += f" Measured once: {'; '.join(map(self._moves, once))}."
        if {"train", "val"} <= {curve.split for curve in self.curves if curve.name == first}:
            words += " Where train improves and val gets worse, the model learns by heart."
        if self._ends_with_val_below_train:
            words += (
                " Val ends below train, which is no error: train is a mean over the epoch, taken "
                "while the weights moved, with dropout and augmentation where there are any; val "
                "is measured after it, without them."
            )
        return words

    @property
    def _pace(self) -> str:
        """How many steps and examples an epoch has: they differ from epochs by a factor only."""
        last = max(self.curves, key=lambda curve: curve.epoch[-1])
        if self.axis != "epoch" or not last.epoch[-1] or not last.samples[-1]:
            return ""
        steps, samples = (last.along(axis)[-1] / last.epoch[-1] for axis in ("step", "samples"))
        return (
            f" An epoch is {steps:,.0f} step{'' if steps == 1 else 's'}, {samples:,.0f} examples."
        )

    def _moves(self, name: str) -> str:
        """Where each curve of a measure began and ended."""
        moves = [
            f"{_move(curve.value)} on {short_name(curve.split)}"
            for curve in self.curves
            if curve.name == name
        ]
        return f"{short_name(name)}: {', '.join(moves)}"

    def draw(self, figure: "Figure") -> None:
        """One panel a measure; splits share it, in their colours."""
        columns, rows = _grid(len(self.measures))
        panels = figure.subplots(rows, columns, squeeze=False).flatten()
        for panel, name in zip(panels, self.measures, strict=False):
            self._draw_measure(panel, name)
        for empty in panels[len(self.measures) :]:
            empty.set_visible(False)
        handles: dict[str, Artist] = {}
        for panel in panels:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        panels[0].legend(handles.values(), handles, fontsize=8)

    def _draw_measure(self, axes: "Axes", name: str) -> None:
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

        curves = [curve for curve in self.curves if curve.name == name]
        for curve in curves:
            _draw_line(axes, curve, self.axis)
        self._draw_best(axes, curves)
        axes.set_title(short_name(name) + (" (log scale)" if self._is_log(name) else ""))
        if self._is_log(name):
            log_scale(axes, "y")
        axes.set_xlabel(AXIS_LABELS[self.axis])
        axes.xaxis.set_major_locator(MaxNLocator(integer=self.axis != "time", nbins=6))
        places = {place for curve in curves for place in curve.along(self.axis)}
        if len(places) == 1:  # else the axis would show thousandths of an epoch
            axes.set_xlim(min(places) - 1, max(places) + 1)

    def _draw_best(self, axes: "Axes", curves: list[Curve]) -> None:
        """A thin line at the best epoch, and a ring where it meets each curve."""
        label = f"best epoch: {self.best_epoch}"
        for curve, line in zip(curves, list(axes.lines), strict=True):
            if self.best_epoch not in curve.epoch:
                continue
            last = len(curve.epoch) - 1 - curve.epoch[::-1].index(self.best_epoch)
            place = curve.along(self.axis)[last]
            if label:
                axes.axvline(place, color=FAINT, linewidth=1.0, linestyle=":", label=label)
                label = ""
            axes.plot(place, curve.value[last], "o", ms=7, mfc="none", color=line.get_color())

    @property
    def _ends_with_val_below_train(self) -> bool:
        """Of the loss; a single value of val is that of a rule of its own, without epochs."""
        losses = {curve.split: curve.value for curve in self.curves if curve.name == "loss"}
        train, val = losses.get("train", ()), losses.get("val", ())
        return len(train) > 0 and len(val) > 1 and val[-1] < train[-1]

    def _is_log(self, name: str) -> bool:
        """A loss over many sizes, all of them above zero."""
        values = [value for curve in self.curves if curve.name == name for value in curve.value]
        lowest, highest = min(values), max(values)
        return name == "loss" and lowest > 0 and math.log10(highest / lowest) > LOG_DECADES


def measure_curves(rows: Iterable[Measurement], *, best_epoch: int | None = None) -> Curves:
    """Sort the rows of a history into curves.

    Args:
        rows: measurements, in order.
        best_epoch: the one whose weights were kept.
    """
    found: dict[tuple[str, str], list[Measurement]] = {}
    for row in rows:
        found.setdefault((row.split, row.name), []).append(row)
    if not found:
        raise DataError("there are no learning curves: nothing was measured")
    curves = tuple(
        Curve(
            split=split,
            name=name,
            epoch=tuple(row.epoch for row in points),
            step=tuple(row.step for row in points),
            samples=tuple(row.samples for row in points),
            time=tuple(row.time for row in points),
            value=tuple(row.value for row in points),
        )
        for (split, name), points in found.items()
    )
    return Curves(curves=curves, best_epoch=best_epoch)


def _move(values: tuple[float, ...]) -> str:
    """Where a curve began and where it ended."""
    last = number(values[-1])
    return last if len(values) == 1 else f"from {number(values[0])} to {last}"


def _grid(panels: int) -> tuple[int, int]:
    """Columns and rows."""
    columns = min(2, panels)
    return columns, -(-panels // columns)


def _draw_line(axes: "Axes", curve: Curve, axis: Axis) -> None:
    """The curve in the colour of its split; few points are also marked, many make a thin line."""
    positions, places = curve.along(axis), _drawn_places(curve.value)
    axes.plot(
        [positions[place] for place in places],
        [curve.value[place] for place in places],
        color=SPLIT_COLOURS.get(curve.split, colour_of(len(SPLIT_COLOURS) + len(axes.lines))),
        label=legend_name(curve.split),
        marker="o" if len(places) <= MOST_MARKERS else None,
        markersize=3.5,
        linewidth=1.8 if len(places) < MOST_POINTS // 2 else 1.0,
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
