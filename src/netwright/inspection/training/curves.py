"""Learning curves: how loss and measures moved on training and validation data over a run."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from netwright.core.errors import ConfigError, DataError
from netwright.inspection.drawing.curve import STEP, Axis, Curve, draw_curve
from netwright.inspection.drawing.figure_style import FAINT, SMALL, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, short_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXIS_LABELS = {
    "epoch": "epoch",
    "step": "step",
    "samples": "examples seen",
    "tokens": "tokens read",
    "time": "seconds",
}
NOTED = {"lr": "learning rate", "memory": "most memory so far (MiB)"}
LOG_DECADES = 1.5  # a loss that spans more than this is drawn on a logarithmic axis
FEWEST_EPOCHS = 2  # a shorter run is drawn against its steps, where these are known
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
        """train, val or test; or step, for what is noted every few updates."""

    @property
    def name(self) -> str:
        """loss, accuracy ..."""

    @property
    def value(self) -> float:
        """The number."""


@dataclass(frozen=True, kw_only=True)
class Curves(View):
    """All that was measured over a run, one panel a measure.

    Args:
        curves: one a measure and split, in the order of the history.
        best_epoch: the one whose weights were kept; None marks nothing.
        best_step: the same as a step, where it is known.
        axis: what is drawn to the right.
        is_small: half the size, for a place between other things.
    """

    title: ClassVar[str] = "Learning curves"
    curves: tuple[Curve, ...]
    best_epoch: int | None = None
    best_step: int | None = None
    axis: Axis = "epoch"
    is_small: bool = False

    def along(self, axis: Axis) -> "Curves":
        """The same curves against epochs, steps, examples seen, tokens read or seconds."""
        if axis == "tokens" and not self.has_tokens:
            raise ConfigError(
                "tokens are of runs on texts; those of padded texts are in the report alone"
            )
        return replace(self, axis=axis)

    def of_training(self) -> "Curves | None":
        """Learning rate, gradient norm, speed and memory by step, where they were noted."""
        noted = [
            replace(curve, split="train", name=NOTED.get(curve.name, curve.name.replace("_", " ")))
            for curve in self.curves
            if curve.split == STEP and curve.name != "loss" and len(curve.value) > 1
        ]
        return Curves(curves=tuple(noted), axis="step") if noted else None

    def small(self) -> "Curves":
        """The same curves at half the size."""
        return replace(self, is_small=True)

    @property
    def has_tokens(self) -> bool:
        """Whether it is known how many tokens were read."""
        return all(curve.tokens for curve in self.curves)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the panels: the loss, then the others as they came.

        What was measured once has none, beside curves that move.
        """
        named = [curve for curve in self.curves if curve.split != STEP or curve.name == "loss"]
        moving = dict.fromkeys(curve.name for curve in named if len(curve.value) > 1)
        names = moving or dict.fromkeys(curve.name for curve in named)
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
        best = next((found for curve in self.curves if (found := self._best(curve))), None)
        if best is not None:
            words += f" The best {best.word} is marked; its weights were kept."
        once = dict.fromkeys(
            curve.name
            for curve in self.curves
            if curve.name not in self.measures and curve.split != STEP
        )
        if once:
            words += f" Measured once: {'; '.join(map(self._moves, once))}."
        if {"train", "val"} <= {curve.split for curve in self.curves if curve.name == first}:
            words += " Where train improves and val gets worse, the model overfits."
        if self._ends_with_val_below_train:
            words += (
                " Val ends below train, which is not an error: train is a mean over the epoch, "
                "taken "
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
            f"{_move((curve.calm() if curve.split == STEP else curve).value)} {_where(curve.split)}"
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
        fitting = columns * (2 if self.is_small else 3)
        figure.legend(  # outside: inside it hid the end of a curve that stays high
            handles.values(), handles, loc="outside upper left", ncols=fitting, fontsize=SMALL
        )

    def _draw_measure(self, axes: "Axes", name: str) -> None:
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

        curves = self._drawn(name)
        colours = [draw_curve(axes, curve, self.axis) for curve in curves]
        self._draw_best(axes, curves, colours)
        axes.set_title(short_name(name) + (" (log scale)" if self._is_log(name) else ""))
        if self._is_log(name):
            log_scale(axes, "y")
        axes.set_xlabel(AXIS_LABELS[self.axis])
        axes.xaxis.set_major_locator(MaxNLocator(integer=self.axis != "time", nbins=6))
        places = {place for curve in curves for place in curve.along(self.axis)}
        if len(places) == 1:  # else the axis would show thousandths of an epoch
            axes.set_xlim(min(places) - 1, max(places) + 1)

    def _drawn(self, name: str) -> list[Curve]:
        """The curves of a panel; of training the finer one, by step or by epoch."""
        found = [curve for curve in self.curves if curve.name == name]
        of_training = [curve for curve in found if curve.split in {"train", STEP}]
        if name != "loss" or len(of_training) < 2:
            return found
        coarser = min(of_training, key=lambda curve: (len(curve.value), curve.split == "train"))
        return [curve for curve in found if curve is not coarser]

    def _best(self, curve: Curve) -> "_Best | None":
        """Where a curve has the best weights; what is noted by step is no measurement."""
        wanted = self.best_step if self.best_step is not None else self.best_epoch
        places = curve.along("epoch" if self.best_step is None else "step")
        if curve.split == STEP or wanted is None or wanted not in places:
            return None
        place = len(places) - 1 - places[::-1].index(wanted)
        epoch = curve.epoch[place]
        is_whole = epoch > 0 and float(epoch).is_integer()
        return _Best(place, f"epoch, {epoch:g}," if is_whole else f"step, {curve.step[place]:,},")

    def _draw_best(self, axes: "Axes", curves: Sequence[Curve], colours: Sequence[str]) -> None:
        """A thin line at the best epoch or step, and a ring where it meets each curve."""
        has_line = False
        for curve, colour in zip(curves, colours, strict=True):
            best = self._best(curve)
            if best is None:
                continue
            place = curve.along(self.axis)[best.place]
            if not has_line:
                label = f"best {best.word.replace(',', ':', 1).strip(',')}"
                axes.axvline(place, color=FAINT, linewidth=1.0, linestyle=":", label=label)
                has_line = True
            axes.plot(place, curve.value[best.place], "o", ms=7, mfc="none", color=colour)

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


class _Best(NamedTuple):
    """Where a curve has the best weights, and what to call the place."""

    place: int
    word: str


def measure_curves(
    rows: Iterable[Measurement],
    *,
    best_epoch: int | None = None,
    best_step: int | None = None,
    tokens_each: float | None = None,
) -> Curves:
    """Sort the rows of a history into curves.

    Args:
        rows: measurements, in order.
        best_epoch: the one whose weights were kept.
        best_step: the same as a step, where it is known.
        tokens_each: that an example of training has on average, where examples are texts.
    """
    rows = list(rows)
    found: dict[tuple[str, str], list[Measurement]] = {}
    for row in rows:
        found.setdefault((row.split, row.name), []).append(row)
    if not found:
        raise DataError("there are no learning curves: the run recorded no metrics")
    by_step = (STEP, "loss") in found
    passes = [row for row in rows if row.split == "train" and row.epoch]
    # What was noted within an epoch has its place there by the examples seen.
    is_finer = by_step or any(not row.epoch for row in rows)
    size = passes[0].samples / passes[0].epoch if is_finer and passes else None
    curves = tuple(
        Curve(
            split=split,
            name=name,
            epoch=tuple(_epochs(row, size) for row in points),
            step=tuple(row.step for row in points),
            samples=tuple(row.samples for row in points),
            time=tuple(row.time for row in points),
            value=tuple(row.value for row in points),
            tokens=tuple(row.samples * tokens_each for row in points) if tokens_each else (),
        )
        for (split, name), points in found.items()
    )
    is_short = not passes or passes[-1].epoch < FEWEST_EPOCHS
    return Curves(
        curves=curves,
        best_epoch=best_epoch,
        best_step=best_step,
        axis="step" if is_finer and is_short else "epoch",
    )


def _epochs(row: Measurement, size: float | None) -> float:
    """Epochs so far, with the part of the present one where it is known how long one is."""
    return row.epoch if size is None or row.samples == row.epoch * size else row.samples / size


def _where(split: str) -> str:
    return "by step" if split == STEP else f"on {short_name(split)}"


def _move(values: tuple[float, ...]) -> str:
    """Where a curve began and where it ended."""
    last = number(values[-1])
    return last if len(values) == 1 else f"from {number(values[0])} to {last}"


def _grid(panels: int) -> tuple[int, int]:
    """Columns and rows."""
    columns = min(2, panels)
    return columns, -(-panels // columns)
