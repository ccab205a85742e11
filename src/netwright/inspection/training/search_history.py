"""How a search went: the value of each trial, and the best so far.

Shapes: T trials that are complete, P that were pruned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, Literal

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAR_APART = 20.0  # times the smallest value


@dataclass(frozen=True, kw_only=True)
class SearchHistory(View):
    """Values by trial.

    Args:
        metric: what the values are.
        better: whether a higher or a lower value is the better one.
        numbers: of the complete trials (T,).
        values: of the complete trials (T,).
        best: the best value up to each of them (T,).
        pruned: numbers of the trials that were stopped early (P,).
    """

    title: ClassVar[str] = "Trial by trial"

    metric: str
    better: Literal["higher", "lower"]
    numbers: tuple[int, ...]
    values: tuple[float, ...]
    best: tuple[float, ...]
    pruned: tuple[int, ...]

    @property
    def caption(self) -> str:
        """The best trial, and how to read the figure."""
        winner = self.numbers[self.values.index(self.best[-1])]
        count = len(self.pruned)
        trials = (
            "The tick at the foot is the" if count == 1 else f"Ticks at the foot are the {count}"
        )
        ticks = f" {trials} pruned trial{'s' * (count > 1)}." if count else ""
        return (
            f"The best {self.metric}, {number(self.best[-1])}, is that of trial {winner}. A point "
            f"is a trial that ran to its end, the line is the best so far.{ticks}"
        )

    def draw(self, figure: "Figure") -> None:
        """Points, the line of the best, and ticks."""
        axes = figure.subplots()
        axes.plot(self.numbers, self.values, "o", color=COLOURS[0], markersize=5, alpha=0.75)
        last = max((*self.numbers, *self.pruned))
        axes.step(
            [*self.numbers, last], [*self.best, self.best[-1]], where="post", color=COLOURS[1]
        )
        if self.pruned:
            foot = axes.get_xaxis_transform()
            axes.plot(self.pruned, [0.02] * len(self.pruned), "|", color=FAINT, transform=foot)
        spread_values(axes, self.values)
        axes.set(xlabel="trial", ylabel=f"{self.metric} ({self.better} is better)")
        axes.locator_params(axis="x", integer=True)


def spread_values(axes: "Axes", values: Sequence[float]) -> None:
    """A logarithmic axis for values that lie far apart: what is best would be one flat line."""
    if min(values) > 0 and max(values) > FAR_APART * min(values):
        log_scale(axes, "y")


def measure_search_history(
    values: dict[int, float],
    *,
    metric: str,
    better: Literal["higher", "lower"],
    pruned: tuple[int, ...] = (),
) -> SearchHistory:
    """Set the values of complete trials, by number, in their order.

    Args:
        values: trial number -> value.
        metric: what the values are.
        better: whether a higher or a lower value is the better one.
        pruned: numbers of the trials that were stopped early.
    """
    if not values:
        raise DataError("a history of a search needs a complete trial, got none")
    numbers = tuple(sorted(values))
    ordered = tuple(values[place] for place in numbers)
    return SearchHistory(
        metric=metric,
        better=better,
        numbers=numbers,
        values=ordered,
        best=tuple(accumulate(ordered, min if better == "lower" else max)),
        pruned=tuple(sorted(pruned)),
    )
