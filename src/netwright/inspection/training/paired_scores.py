"""Scores under the same seeds, joined by lines, and the gaps to the first with their intervals.

Shapes: E entries, n seeds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import FAINT, INK, colour_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted, short_name
from netwright.metrics.catalog import METRICS
from netwright.metrics.paired import UNBOUNDED, PairedGap, paired_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LETTERS = 30  # of a label
MOST_DRAWN = 100  # seeds that are drawn; means and intervals are always those of all


@dataclass(frozen=True, kw_only=True)
class PairedScores(View):
    """What each entry scored under each seed.

    Args:
        metric: what the scores are.
        better: whether a higher or a lower score is the better one.
        labels: of the E entries.
        scores: (E, n).
        shares_seeds: (E,) whether the entry was trained under the seeds of the first.
        gaps: to the first, of the E - 1 others.
    """

    title: ClassVar[str] = "Scores by seed"

    metric: str
    better: Literal["higher", "lower"]
    labels: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    shares_seeds: tuple[bool, ...]
    gaps: tuple[PairedGap, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Two panels, with a row an entry."""
        return (9.6, 1.2 + 0.6 * len(self.labels))

    @property
    def caption(self) -> str:
        """The gap of the second entry, and how to read both panels."""
        gap = self.gaps[0]
        where = f" [{number(gap.interval[0])}, {number(gap.interval[1])}]" if gap.interval else ""
        unpaired = (
            "" if all(self.shares_seeds) else " Points without lines have seeds of their own."
        )
        n = len(self.scores[0])
        hidden = f" Of the {n:,} seeds {MOST_DRAWN} are drawn." if n > MOST_DRAWN else ""
        return (
            f"{quoted(self.labels[1])} minus {quoted(self.labels[0])}: {number(gap.mean)}{where} "
            f"{self.metric}. Left: one line per seed, the bars are means.{unpaired} Right: one "
            f"point per seed, the diamond is the mean gap and the line its interval; where it "
            f"crosses 0, "
            f"the seeds do not tell the two apart.{hidden}"
        )

    def draw(self, figure: "Figure") -> None:
        """A row an entry: its scores on the left, its gap on the right."""
        left, right = figure.subplots(1, 2, sharey=True)
        self._draw_scores(left)
        self._draw_gaps(right)
        names = [_row_name(label) for label in self.labels]
        left.set_yticks(range(len(names)), names, fontsize=9.0)
        left.set_ylim(len(names) - 0.5, -0.5)  # the first entry on top
        for axes in (left, right):
            axes.locator_params(axis="x", nbins=6)

    def _draw_scores(self, axes: "Axes") -> None:
        scores = np.array(self.scores)  # (E, n)
        rows = np.arange(len(scores))
        joined = np.where(np.array(self.shares_seeds)[:, None], scores, np.nan)  # NaN: no line
        axes.plot(joined[:, :MOST_DRAWN], rows, color=FAINT, linewidth=0.9, alpha=0.6)
        for row, values in enumerate(scores):
            _draw_points(axes, values, row, row)
            mean = values.mean()
            axes.vlines(mean, row - 0.25, row + 0.25, color=colour_of(row), linewidth=2.5)
        axes.set(title=f"{self.metric} by seed", xlabel=f"{self.metric} ({self.better} is better)")

    def _draw_gaps(self, axes: "Axes") -> None:
        axes.axvline(0, color=INK, linewidth=1.0)
        for row, gap in enumerate(self.gaps, start=1):
            colour = colour_of(row)
            _draw_points(axes, gap.differences, row, row + 0.2)
            if gap.interval is not None:
                axes.hlines(row, *gap.interval, color=colour, linewidth=2.5)
            axes.plot(gap.mean, row, "D", color=colour, markersize=6.5)
        side = "right" if self.better == "higher" else "left"
        axes.set(
            title=f"gap to {_row_name(self.labels[0])}",
            xlabel=f"difference in {self.metric} ({side} of 0 is better)",
        )


def measure_paired_scores(
    scores: Mapping[str, Sequence[float]],
    *,
    metric: str,
    better: Literal["higher", "lower"],
    own_seeds: Collection[str] = (),
) -> PairedScores:
    """Set scores side by side, with the gaps to the first.

    Args:
        scores: label -> n scores, one a seed, in the same order.
        metric: what the scores are.
        better: whether a higher or a lower score is the better one.
        own_seeds: labels whose seeds are not those of the first.
    """
    if len(scores) < 2:
        raise DataError(f"scores of at least two entries are needed, got {len(scores)}")
    reference, *others = scores.values()
    bounds = METRICS[metric].bounds if metric in METRICS else UNBOUNDED
    return PairedScores(
        metric=metric,
        better=better,
        labels=tuple(scores),
        scores=tuple(tuple(row) for row in scores.values()),
        shares_seeds=tuple(label not in own_seeds for label in scores),
        gaps=tuple(
            paired_gap(reference, other, comparisons=len(others), bounds=bounds) for other in others
        ),
    )


def _draw_points(
    axes: "Axes", values: Sequence[float] | NDArray[Any], entry: int, height: float
) -> None:
    """One point a seed, in the colour of the entry."""
    axes.plot(
        values[:MOST_DRAWN],
        np.full(len(values[:MOST_DRAWN]), height),
        "o",
        color=colour_of(entry),
        markersize=4.5,
        alpha=0.75,
        markeredgewidth=0,
    )


def _row_name(label: str) -> str:
    """The label on one line; of a long one the middle is left out, since ends tell labels apart."""
    line = short_name(label, len(label) + 1)
    half = MOST_LETTERS // 2
    return line if len(line) <= MOST_LETTERS else f"{line[:half]}…{line[1 - half :]}"
