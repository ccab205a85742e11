"""The learning-rate range test: the loss of a short training whose learning rate rises all the way.

The loss rests while the rate is too small, falls, and rises again where the rate is too large. A
tenth of the rate at which the smoothed loss was smallest is suggested. The other known rule, the
rate of steepest fall, follows the noise of the batches: on small data it often picks a rate at
which nothing is learned yet.

Source: Smith, "Cyclical Learning Rates for Training Neural Networks" (2017), section 3.3; smoothing
and the tenth as in Howard and Gugger, "fastai: A Layered API for Deep Learning" (2020).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUIET = 20  # first updates, at rates too small to matter: they show how much batches differ
LAST = 5  # updates at the end: a smallest loss among them may not be the smallest
MEMORY = 0.9  # of the smoothed loss: it looks back over about ten updates
FLAT = 1e-3  # a smaller share of the loss is no fall, even where every batch is the same


@dataclass(frozen=True, kw_only=True)
class LearningRateRange(View):
    """Learning rates that were tried, and what the loss made of them.

    Args:
        lr: the rate of each update, rising.
        loss: the loss of each update's batch, before the weights moved.
        smoothed: its running mean.
        start: the mean loss of the first updates, which hardly move the weights.
        spread: their standard deviation: how much the loss differs from batch to batch.
        suggestion: a rate to train with; None where the loss did not fall by more than its noise.
    """

    title: ClassVar[str] = "Learning-rate range test"

    lr: tuple[float, ...]
    loss: tuple[float, ...]
    smoothed: tuple[float, ...]
    start: float
    spread: float
    suggestion: float | None

    @property
    def lowest(self) -> int:
        """The update of the smallest smoothed loss; the first ones, means of few, do not count."""
        first = min(QUIET, len(self.smoothed) - 1)
        return min(range(first, len(self.smoothed)), key=self.smoothed.__getitem__)

    @property
    def fall(self) -> float:
        """How far the smoothed loss fell; negative where it only rose."""
        return self.start - self.smoothed[self.lowest]

    @property
    def noise(self) -> float:
        """What a fall has to exceed.

        Two means of about twenty losses each are compared, so one standard deviation of the losses
        is three standard errors: less may be the luck of the batches.
        """
        return max(self.spread, FLAT * abs(self.start))

    @property
    def is_still_falling(self) -> bool:
        """Whether the loss had not turned when the rates ended: a larger one may do better."""
        rise = self.smoothed[-1] - self.smoothed[self.lowest]
        return self.lowest >= len(self.smoothed) - LAST and self.fall > self.noise >= rise

    @property
    def window(self) -> tuple[float, float]:
        """The losses worth showing, smallest and largest: the fall, and some room above it."""
        height = max(self.fall, self.noise) or 1.0
        return self.start - 1.2 * height, self.start + 0.6 * height

    @property
    def caption(self) -> str:
        """What was tried, how far the loss fell, and what follows."""
        tried = (
            f"The learning rate rose from {self.lr[0]:.2g} to {self.lr[-1]:.2g} "
            f"over {len(self.lr)} updates."
        )
        if self.suggestion is None:
            return (
                f"{tried} The loss fell by {number(max(0.0, self.fall))} at most, no more than its "
                f"noise, {number(self.noise)}: there is no clear descent and no rate is "
                f"suggested; larger batches are less noisy."
            )
        still_falling = (
            " The loss was still falling at the largest rate tried, so the suggestion is only a "
            "lower bound."
        )
        return (
            f"{tried} The smoothed loss fell from {number(self.start)} to "
            f"{number(self.smoothed[self.lowest])}, where the rate was "
            f"{self.lr[self.lowest]:.2g}; a tenth of that, {self.suggestion:g}, is suggested."
            f"{still_falling if self.is_still_falling else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """Loss against learning rate, both of the batches and smoothed; the suggestion marked."""
        axes = figure.add_subplot()
        log_scale(axes, "x")
        axes.plot(self.lr, self.loss, ".", color=FAINT, markersize=4, label="loss of a batch")
        axes.plot(self.lr, self.smoothed, color=COLOURS[0], label="smoothed")
        axes.axhline(self.start, color=INK, linewidth=0.8, linestyle=":", label="start")
        if self.suggestion is not None:
            bound = "at least " if self.is_still_falling else ""
            at, label = self.lowest, f"suggested: {bound}{self.suggestion:g}"
            axes.plot(self.lr[at], self.smoothed[at], "o", color=COLOURS[0])
            axes.axvline(self.suggestion, color=COLOURS[1], linestyle="--", label=label)
        axes.set_ylim(self.window)
        axes.set_xlabel("learning rate")
        axes.set_ylabel("training loss")
        figure.legend(loc="outside upper center", ncols=4, fontsize=9, columnspacing=1.2)


def measure_learning_rate_range(lr: Sequence[float], loss: Sequence[float]) -> LearningRateRange:
    """Read the losses of updates at rising learning rates; suggest a rate where the loss fell."""
    found = LearningRateRange(
        lr=tuple(lr),
        loss=tuple(loss),
        smoothed=smooth(loss),
        start=statistics.fmean(loss[:QUIET]),
        spread=statistics.pstdev(loss[:QUIET]),
        suggestion=None,
    )
    if found.fall <= found.noise:
        return found
    return replace(found, suggestion=float(f"{lr[found.lowest] / 10:.1e}"))


def smooth(values: Sequence[float]) -> tuple[float, ...]:
    """The running exponential mean, corrected for starting at zero as in Adam."""
    means: list[float] = []
    mean = 0.0
    for count, value in enumerate(values, start=1):
        mean = MEMORY * mean + (1 - MEMORY) * value
        means.append(mean / (1 - MEMORY**count))
    return tuple(means)
