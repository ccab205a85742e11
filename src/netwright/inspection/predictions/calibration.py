"""Calibration: of the answers given with 80 % confidence, are 80 % right?

Probabilities are put into bins of equal width (low, high]; a calibrated model is right, in every
bin, as often as it says. The expected calibration error is the mean over examples of

    |how often it came true in the bin - mean probability in the bin|

With two classes the probability is that of class 1 and "true" is class 1; with more it is that of
the likeliest class and "true" is that this class is right.

Shapes: N examples, C classes.
Source: Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015);
Guo et al., "On Calibration of Modern Neural Networks" (2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_positive
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, SMALL
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import amount, percent, short_name
from netwright.metrics.samples import check_class_samples, check_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COUNTED = 15  # bins whose counts are written


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """The examples whose probability lies in (low, high].

    Args:
        low: lower end.
        high: upper end.
        amount: examples, or the sum of their weights; more than 0.
        confidence: the mean of their probabilities.
        frequency: how often what was said came true.
    """

    low: float
    high: float
    amount: float
    confidence: float
    frequency: float


@dataclass(frozen=True, kw_only=True)
class Calibration(View):
    """How often predictions of each confidence come true.

    Args:
        of: the class of two whose probability it is; None where it is the likeliest of more.
        bins: those that hold examples, from low to high.
        error: the expected calibration error.
    """

    title: ClassVar[str] = "Calibration"

    of: str | None
    bins: tuple[CalibrationBin, ...]
    error: float

    @property
    def size(self) -> tuple[float, float]:
        """Nearly square, with the histogram below."""
        return (4.8, 5.0)

    @property
    def caption(self) -> str:
        """The expected calibration error, and whether it is too sure or not sure enough."""
        total = sum(one.amount for one in self.bins)
        confidence = sum(one.amount * one.confidence for one in self.bins) / total
        frequency = sum(one.amount * one.frequency for one in self.bins) / total
        truth = "it is right" if self.of is None else f"the class is {short_name(self.of)}"
        return (
            f"The probability of {self._whose}, against how often {truth}; on the dashed line both "
            f"agree. On average it says {percent(confidence)} and {truth} in {percent(frequency)}. "
            f"The expected calibration error, the distance from the line averaged over the "
            f"examples, is {self.error:.3f}. Below: how many examples each point stands for; a "
            f"point of few examples is noisy."
        )

    @property
    def _whose(self) -> str:
        return "the likeliest class" if self.of is None else f"class {short_name(self.of)}"

    def draw(self, figure: "Figure") -> None:
        """The reliability diagram above, the number of examples below."""
        diagram, counts = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
        middles = [one.confidence for one in self.bins]
        frequencies = [one.frequency for one in self.bins]
        diagram.plot((0, 1), (0, 1), color=FAINT, linestyle="--", linewidth=1.2)
        diagram.vlines(middles, middles, frequencies, color=COLOURS[1], linewidth=2.5, alpha=0.5)
        diagram.plot(middles, frequencies, color=COLOURS[0], marker="o", clip_on=False)
        truth = "share that is right" if self.of is None else f"share of {self._whose}"
        diagram.set(xlim=(0, 1), ylim=(0, 1), ylabel=truth)
        self._draw_counts(counts)
        counts.set_xlabel(f"probability of {self._whose}")

    def _draw_counts(self, axes: "Axes") -> None:
        for one in self.bins:
            axes.bar(
                one.low, one.amount, width=0.94 * (one.high - one.low), align="edge", color=FAINT
            )
        if len(self.bins) <= MOST_COUNTED:
            for one in self.bins:
                place = ((one.low + one.high) / 2, one.amount)
                axes.annotate(
                    short_amount(one.amount),
                    place,
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=SMALL,
                )
        axes.margins(y=0.3)
        axes.set_ylabel("examples")
        axes.grid(visible=False)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)  # the first count would stand across it


def short_amount(value: float) -> str:
    """How many, in the width of a bar: 812, 1.1k or 18k."""
    return amount(value) if value < 1_000 else f"{float(f'{value / 1_000:.2g}'):,g}k"


def measure_calibration(
    targets: Tensor,
    probabilities: Tensor,
    weights: Tensor | None = None,
    bins: int = 10,
    class_names: Sequence[str] = ("0", "1"),
) -> Calibration:
    """Compare what a classifier says with how often it comes true.

    Args:
        targets: the true classes, int64 (N,).
        probabilities: (N, C).
        weights: how much each example counts, (N,).
        bins: of equal width, between 0 and 1.
        class_names: C of them; only those of two are told.
    """
    check_positive("bins", bins)
    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    exact = probabilities.detach().cpu().double()
    if exact.shape[1] == 2:
        chance, came_true = exact[:, 1].contiguous(), targets.cpu() == 1
    else:
        chance, said = exact.max(dim=1)
        came_true = said == targets.cpu()
    counted = torch.ones_like(chance) if weights is None else weights.detach().cpu().double()
    filled = _fill(chance, came_true, counted, bins)
    total = sum(one.amount for one in filled)
    return Calibration(
        of=class_names[1] if exact.shape[1] == 2 else None,
        bins=filled,
        error=sum(one.amount * abs(one.frequency - one.confidence) for one in filled) / total,
    )


def _fill(
    chance: Tensor, came_true: Tensor, counted: Tensor, bins: int
) -> tuple[CalibrationBin, ...]:
    """The bins (low, high] that hold something; 0 belongs to the first."""
    edges = torch.linspace(0, 1, bins + 1, dtype=torch.float64)
    places = torch.bucketize(chance, edges[1:-1])

    def sums(values: Tensor) -> list[float]:
        return torch.zeros_like(edges[1:]).index_add_(0, places, counted * values).tolist()

    amounts, chances, hits = sums(torch.ones_like(chance)), sums(chance), sums(came_true.double())
    return tuple(
        CalibrationBin(
            low=float(edges[place]),
            high=float(edges[place + 1]),
            amount=held,
            confidence=chances[place] / held,
            frequency=hits[place] / held,
        )
        for place, held in enumerate(amounts)
        if held > 0
    )
