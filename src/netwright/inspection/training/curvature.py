r"""Curvature: how the loss of a model bends around its weights, and what a step downhill does.

The eigenvalues of the Hessian say how the loss curves along each of N directions. Where the largest
is L, gradient descent is stable for learning rates below 2 / L. Along the gradient g itself

    f(w - eta g) = f - eta g.g + eta^2 / 2 g.Hg + ...

says how much of what the slope promises is left.

Shapes: N weights, K eigenvalues.
Source: Sagun, Bottou and LeCun, "Eigenvalues of the Hessian in Deep Learning" (2016); Cohen et al.,
"Gradient Descent on Neural Networks Typically Occurs at the Edge of Stability" (2021).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from netwright.backprop.second_order import (
    CriticalPoint,
    GradientStep,
    classify,
    hessian_product,
    is_built_at_once,
    lanczos,
    loss_of_weights,
    random_start,
    twice_differentiable,
    whole_spectrum,
)
from netwright.core.checks import check_finite
from netwright.core.evaluation import evaluating
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, SMALL, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_WHOLE = 600  # weights whose Hessian is built; of more, its ends are looked for
MOST_BY_ROWS = 100  # where it is built row by row
NOTHING = 1e-5  # of the largest curvature: the rounding of float32
UNSEEN = 1e-7  # of the loss, which is rounded by so much
BINS = 61
TRIED = 17  # steps along the gradient
FINE = 101  # places of the parabola
FURTHEST = 2.5  # of these, over the best: from 2 on the loss is above where it was


@dataclass(frozen=True, kw_only=True)
class Curvature(View):
    """The spectrum of the Hessian of a loss, and the loss along the negative gradient.

    Args:
        rows: examples whose mean loss it is.
        weights: how many there are, N.
        values: eigenvalues from low to high: all of them, or those that Lanczos found.
        counts: how many directions each stands for.
        is_whole: whether these are all eigenvalues.
        slope: the length of the gradient.
        step: what the first two derivatives foretell of a step along the gradient.
        rates: learning rates of steps that were tried; none where there is no slope.
        losses: what came of them; steps after which it is not finite are left out.
        lr: of the run, or None where it has none.
        optimizer: that the run used.
    """

    title: ClassVar[str] = "Curvature of the loss"

    rows: int
    weights: int
    values: tuple[float, ...]
    counts: tuple[float, ...]
    is_whole: bool
    slope: float
    step: GradientStep
    rates: tuple[float, ...]
    losses: tuple[float, ...]
    lr: float | None
    optimizer: str

    @property
    def size(self) -> tuple[float, float]:
        """Two panels beside each other, where the second has anything to show."""
        return (9.4 if self.rates else 6.0, 4.0)

    @property
    def stable_lr(self) -> float:
        """2 / L: where gradient descent begins to swing; infinite where nothing curves up."""
        return 2 / self.values[-1] if self.values[-1] > self._nothing else math.inf

    @property
    def negative(self) -> int:
        """Eigenvalues below 0 by more than rounding: all such, or those that were found."""
        return sum(value < -self._nothing for value in self.values)

    @property
    def point(self) -> CriticalPoint | None:
        """What the place is, where its slope is none; a few eigenvalues can prove only a saddle.

        A slope is none where what a step of 1 / L is sure to gain, slope^2 / 2 L, is not seen in
        the loss: whatever the units of weights and loss are.
        """
        if self.slope**2 > 2 * self._largest * UNSEEN * abs(self.step.loss):
            return None
        told = classify(torch.tensor(self.values, dtype=torch.float64), 0.0, flat=self._nothing)
        return told if self.is_whole or told.kind == "saddle" else replace(told, kind="undecided")

    @property
    def _largest(self) -> float:
        return max(abs(self.values[0]), abs(self.values[-1]))

    @property
    def _nothing(self) -> float:
        return NOTHING * self._largest

    @property
    def caption(self) -> str:
        """What the place is, and how long a step it bears."""
        found = "" if self.is_whole else f" (from {len(self.values)} values that Lanczos found)"
        least = "" if self.is_whole else "at least "
        lowest, largest = (
            number(value if abs(value) > self._nothing else 0)
            for value in (self.values[0], self.values[-1])
        )
        stable = (
            f"Gradient descent is stable up to a learning rate of 2 / {largest} = "
            f"{number(self.stable_lr)}"
            if math.isfinite(self.stable_lr)
            else "No direction curves up, so curvature alone does not limit the learning rate"
        )
        used = "" if self.lr is None else f"; the run used {self.optimizer} with {number(self.lr)}"
        return (
            f"{'Left: how' if self.rates else 'How'} the loss of {self._examples} curves along "
            f"each of {self.weights:,} directions{found}, from {lowest} to {largest}; {least}"
            f"{self.negative:,} curve down (orange). {stable}{used}. "
            f"{self._told_of_place}{self._told_of_step}"
        )

    @property
    def _examples(self) -> str:
        return f"{self.rows:,} examples" if self.rows > 1 else "1 example"

    @property
    def _told_of_place(self) -> str:
        if self.point is None:
            return f"The gradient norm is {number(self.slope)}: the loss still falls here."
        kinds = {
            "minimum": "a minimum",
            "maximum": "a maximum",
            "saddle": "a saddle",
            "undecided": "a critical point that the curvature does not decide",
        }
        return f"The gradient is 0 up to rounding: this is {kinds[self.point.kind]}."

    @property
    def _told_of_step(self) -> str:
        if not self.rates:
            return ""
        best = self.step.best_lr
        if not math.isfinite(best):
            return " Right: along the negative gradient the loss does not curve up."
        lowest, rate = min(zip(self.losses, self.rates, strict=True))
        return (
            f" Right: a step along the negative gradient; slope and curvature together predict "
            f"that {number(best)} reduces the loss most, from {number(self.step.loss)} to "
            f"{number(self.step.predicted(best))}; of {len(self.rates)} that were tried "
            f"{number(rate)} did, to {number(lowest)}."
        )

    def draw(self, figure: "Figure") -> None:
        """The spectrum, and the loss along the negative gradient beside it."""
        panels = figure.subplots(1, 2 if self.rates else 1, squeeze=False).flat
        self._draw_spectrum(panels[0])
        if self.rates:
            self._draw_step(panels[1])

    def _draw_spectrum(self, axes: "Axes") -> None:
        # A value that was found stands for a direction at least.
        heights = [max(count, 1.0) for count in self.counts]
        tops, edges = np.histogram(self.values, bins=BINS, weights=heights)
        colours = [COLOURS[1] if right <= 0 else COLOURS[0] for right in edges[1:]]
        axes.bar(edges[:-1], tops, width=np.diff(edges), align="edge", color=colours)
        log_scale(axes, "y")
        axes.set_ylim(bottom=0.6)
        axes.set(
            title="How the loss curves",
            xlabel="curvature (eigenvalue of the Hessian)",
            ylabel="number of directions" if self.is_whole else "number of directions, estimated",
        )

    def _draw_step(self, axes: "Axes") -> None:
        ends = [0.0, self.rates[-1]]
        straight = [self.step.loss - lr * self.step.slope for lr in ends]
        grid = np.linspace(0.0, self.rates[-1], FINE).tolist()
        foretold = [self.step.predicted(lr) for lr in grid]
        axes.plot(ends, straight, color=FAINT, linestyle=":", label="slope alone")
        axes.plot(grid, foretold, color=COLOURS[1], linestyle="--", label="slope and curvature")
        axes.plot(self.rates, self.losses, color=COLOURS[0], label="true loss")
        if self.lr is not None and self.lr <= self.rates[-1]:
            axes.axvline(self.lr, color=FAINT, linewidth=1.2, label="the run's learning rate")
        lowest, highest = min(*self.losses, *foretold), self.step.loss
        room = 0.3 * (highest - lowest)
        axes.set_ylim(lowest - room, max(highest, *foretold) + room)
        axes.locator_params(axis="x", nbins=6)
        axes.legend(fontsize=SMALL, frameon=True, edgecolor="none", framealpha=0.9)
        axes.set(
            title="A step down the slope",
            xlabel="learning rate of the step",
            ylabel=f"loss of {self._examples}",
        )


def measure_curvature(
    model: nn.Module,
    inputs: Tensor,
    loss: Callable[[Any], Tensor],
    *,
    steps: int,
    lr: float | None = None,
    optimizer: str = "",
) -> Curvature:
    """The spectrum of the Hessian of a batch's loss, and the loss along the gradient.

    Args:
        model: that learns by gradients; it is looked at as it predicts, without dropout.
        inputs: of a batch.
        loss: what the model gives -> its loss on the batch, a number.
        steps: of Lanczos, where there are more than a few weights.
        lr: that the run used, to be shown beside what is stable.
        optimizer: that it used.
    """
    with evaluating(model), twice_differentiable():
        function, place = loss_of_weights(model, inputs, loss)
        gradient, product = hessian_product(function, place)
        check_finite("the gradient", gradient)
        bent = product(gradient)
        check_finite("the curvature along the gradient", bent)
        is_whole = len(place) <= MOST_BY_ROWS or (
            len(place) <= MOST_WHOLE and is_built_at_once(function, place)
        )
        spectrum = (
            whole_spectrum(function, place)
            if is_whole
            else lanczos(product, random_start(place), steps)
        )
        step = GradientStep(
            loss=float(function(place)),
            slope=float(gradient @ gradient),
            curvature=float(gradient @ bent),
        )
        tried = [(rate, float(function(place - rate * gradient))) for rate in _rates(step)]
    finite = [(rate, after) for rate, after in tried if math.isfinite(after)]
    return Curvature(
        rows=len(inputs),
        weights=len(place),
        values=tuple(spectrum.values.tolist()),
        counts=tuple((len(place) * spectrum.shares).tolist()),
        is_whole=is_whole,
        slope=math.sqrt(step.slope),
        step=step,
        rates=tuple(rate for rate, _ in finite),
        losses=tuple(after for _, after in finite),
        lr=lr,
        optimizer=optimizer,
    )


def _rates(step: GradientStep) -> list[float]:
    """Learning rates from 0 past the best; where there is no best, as far as weights move by 1."""
    if step.slope == 0:
        return []
    best = step.best_lr
    furthest = FURTHEST * best if math.isfinite(best) else 1 / math.sqrt(step.slope)
    return torch.linspace(0, furthest, TRIED, dtype=torch.float64).tolist()
