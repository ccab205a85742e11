"""The hyperplane of a perceptron: how it was found, and how far the examples lie from it.

Shapes: N examples, D features, R planes (one a class, or one between two), P passes, E edges.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS, FAINT
from netwright.inspection.drawing.histogram import histogram, histogram_edges
from netwright.inspection.drawing.ticks import whole_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import amount, number
from netwright.metrics.margin import signed_distance
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MARKERS = 30  # more passes make a line only


@dataclass(frozen=True, kw_only=True)
class Hyperplane(View):
    """Mistakes of each pass, and the signed distances of the examples.

    Args:
        mistakes: of each pass over the training data, (P,).
        kept_pass: the one whose weights are shown on the right, counted from 1; None where the
            mean of all is.
        separable: whether the training data is linearly separable; None where nobody knows.
        edges: of the histogram of distances, (E,); empty where all weights are zero.
        amounts: examples between the edges, (E - 1,).
        margin: the smallest distance; below zero where an example lies on the wrong side.
        num_planes: R.
        num_examples: N, those that have a distance.
        num_beyond: how many of them lie on the wrong side.
    """

    title: ClassVar[str] = "The separating hyperplane"

    mistakes: tuple[int, ...]
    kept_pass: int | None
    separable: bool | None
    edges: tuple[float, ...]
    amounts: tuple[float, ...]
    margin: float
    num_planes: int
    num_examples: int
    num_beyond: int

    @property
    def size(self) -> tuple[float, float]:
        """Two panels side by side."""
        return (9.0, 3.5)

    @property
    def caption(self) -> str:
        """Whether the classes can be told apart by planes, and how far the examples lie away."""
        passes = f"{len(self.mistakes)} pass{'' if len(self.mistakes) == 1 else 'es'}"
        learned = (
            f"Left: mistakes while learning, {amount(self.mistakes[0])} in the first of {passes} "
            f"and {amount(self.mistakes[-1])} in the last. {self._verdict} "
            f"{self._kept}"
        )
        if not self.edges:
            return f"{learned} All weights are zero: there is no plane to measure distances from."
        which = "the plane" if self.num_planes == 1 else "the plane of their class"
        return (
            f"{learned} Right: distances of {amount(self.num_examples)} examples from {which}, "
            f"below 0 on the wrong side ({amount(self.num_beyond)}). The margin, the smallest "
            f"distance, is {number(self.margin)}."
        )

    @property
    def _kept(self) -> str:
        if self.kept_pass is None:
            return "The mean of the weights of all passes answers."
        return f"The weights of pass {self.kept_pass} are kept."

    @property
    def _verdict(self) -> str:
        by = "a plane" if self.num_planes == 1 else "one plane per class"
        if self.mistakes[-1] == 0 and self.kept_pass is None:
            return (
                "A pass without a mistake: the last weights separate the training data, the mean "
                "of all may not."
            )
        if self.mistakes[-1] == 0:
            return f"A pass without a mistake: {by} separates the training data."
        if self.separable is None:
            return "It was stopped there: whether more passes end without a mistake is unknown."
        if self.separable:
            return f"It was stopped early: {by} does separate the data; more passes find it."
        return f"No pass ever ends without a mistake: {by} cannot separate the data."

    def draw(self, figure: "Figure") -> None:
        """The passes on the left, the distances on the right."""
        left, right = figure.subplots(1, 2)
        self._draw_passes(left)
        if not self.edges:
            right.set_visible(False)
            return
        cut = sum(edge <= 0 for edge in self.edges)
        for colour, low, high, label in (
            (COLOURS[1], 0, cut, "wrong side"),
            (COLOURS[0], max(cut - 1, 0), len(self.edges), "right side"),
        ):
            if high - low > 1:
                right.stairs(
                    self.amounts[low : high - 1],
                    self.edges[low:high],
                    fill=True,
                    color=colour,
                    alpha=0.75,
                    label=label,
                )
        right.axvline(0.0, color=FAINT, linestyle="--", linewidth=1.2)
        right.set(xlabel="signed distance from the plane", ylabel="examples")
        right.legend()
        whole_ticks(right)

    def _draw_passes(self, axes: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

        passes = range(1, len(self.mistakes) + 1)
        marker = "o" if len(self.mistakes) <= MOST_MARKERS else None
        axes.plot(passes, self.mistakes, color=COLOURS[0], marker=marker, markersize=3.5)
        if self.kept_pass is not None:
            axes.plot(
                self.kept_pass,
                self.mistakes[self.kept_pass - 1],
                "o",
                markersize=9,
                markerfacecolor="none",
                color=COLOURS[1],
                label=f"kept: pass {self.kept_pass}",
            )
            axes.legend()
        axes.set(xlabel="pass", ylabel="mistakes in the pass")
        axes.set_ylim(bottom=0, top=1.08 * max(self.mistakes) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        whole_ticks(axes)


def measure_hyperplane(
    inputs: Tensor,
    targets: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    mistakes: Tensor,
    kept_pass: int | None,
    separable: bool | None,
) -> Hyperplane:
    """Measure the distances of examples from the plane of their class.

    Args:
        inputs: what the weights meet, (N, D).
        targets: classes, int64 (N,).
        weight: (R, D); a single row parts class 1 from class 0.
        bias: (R,).
        mistakes: of each pass, (P,).
        kept_pass: whose weights these are, from 1; None where they are the mean of all.
        separable: whether the training data is linearly separable; None where nobody knows.
    """
    check_shape("weight", weight, "R", "D")
    check_not_empty("mistakes", mistakes)
    distances = _distances(inputs.detach(), targets, weight.detach(), bias.detach())
    edges = _edges_around_zero(distances) if len(distances) else ()
    return Hyperplane(
        mistakes=tuple(mistakes.tolist()),
        kept_pass=kept_pass,
        separable=separable,
        edges=edges,
        amounts=histogram(distances, edges) if edges else (),
        margin=float(distances.min()) if edges else 0.0,
        num_planes=len(weight),
        num_examples=len(distances),
        num_beyond=int((distances <= 0).sum()),
    )


def _distances(inputs: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Of each example whose plane has a direction, from the plane of its class."""
    if len(weight) == 1:
        weight, bias = torch.cat((-weight, weight)), torch.cat((-bias, bias))
    found = [inputs.new_zeros(0)]
    for row in weight.abs().sum(dim=1).nonzero().flatten().tolist():
        own = inputs[targets == row]
        found.append(signed_distance(own, own.new_ones(len(own)), weight[row], bias[row]))
    return torch.cat(found)


def _edges_around_zero(distances: Tensor) -> tuple[float, ...]:
    """Even edges, moved so that zero is one of them where it lies inside."""
    edges = histogram_edges(distances, len(distances))
    low, width = edges[0], edges[1] - edges[0]
    if low >= 0 or edges[-1] <= 0:
        return edges
    first = width * (low // width)  # a multiple of the width at or below the least
    return tuple(first + width * step for step in range(len(edges) + 1))
