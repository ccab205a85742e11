"""The path of weights: which inputs come in first as a penalty falls, and how far they go.

Shapes: L penalties, D inputs, M of them drawn in colour.
Source: Efron, Hastie, Johnstone and Tibshirani, "Least Angle Regression" (2004), figure 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import FAINT, INK, SMALL, colour_of, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, legend_name, number, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 8
MOST_FAINT = 200


@dataclass(frozen=True, kw_only=True)
class NamedPath:
    """The weight of one input at each penalty."""

    name: str
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class WeightPath(View):
    """Weights against the penalty, which falls from left to right.

    Args:
        target_name: what is predicted.
        penalties: from the largest to the one that the model has, (L,).
        named: the inputs of the largest weights at the end, the largest first.
        others: the weights of further inputs, each (L,).
        num_kept: weights that are not 0 at the end.
        num_inputs: all inputs.
        gap_left: how far the loss may be above the least, where that was not reached; else 0.
    """

    title: ClassVar[str] = "Weight path"

    target_name: str
    penalties: tuple[float, ...]
    named: tuple[NamedPath, ...]
    others: tuple[tuple[float, ...], ...]
    num_kept: int
    num_inputs: int
    gap_left: float

    @property
    def size(self) -> tuple[float, float]:
        """Wide enough for the names."""
        return (7.2, 3.9)

    @property
    def caption(self) -> str:
        """How many weights are left, which is the largest, and whether they are the best ones."""
        sentence = (
            f"Weights of the inputs for {quoted(self.target_name)} as the penalty falls to the "
            f"model's own, {number(self.penalties[-1])}, at the right edge. There {self.num_kept} "
            f"of {self.num_inputs} weights are not 0"
        )
        if self.num_kept:
            name, weight = self.named[0].name, self.named[0].weights[-1]
            sentence += f"; the largest is that of {quoted(name)}, {number(weight)}"
        if self.gap_left:
            sentence += f". The optimum was not reached; the gap is {number(self.gap_left)}"
        return f"{sentence}."

    def draw(self, figure: "Figure") -> None:
        """A line an input; names beside the lines of the largest weights."""
        axes = figure.subplots()
        for weights in self.others:
            axes.plot(self.penalties, weights, color=FAINT, linewidth=0.8, alpha=0.5)
        for place, path in enumerate(self.named):
            axes.plot(
                self.penalties,
                path.weights,
                color=colour_of(place),
                linewidth=2.0,
                label=legend_name(path.name),
            )
        axes.axhline(0.0, color=INK, linewidth=0.8)
        log_scale(axes, "x")
        axes.invert_xaxis()
        axes.set(xlabel="penalty (falls to the right)", ylabel="weight")
        figure.legend(loc="outside right upper", fontsize=SMALL)


def measure_weight_path(
    penalties: Tensor,
    weights: Tensor,
    names: Sequence[str],
    target_name: str,
    gap_left: float = 0.0,
) -> WeightPath:
    """Pick the inputs to name.

    Args:
        penalties: falling, (L,).
        weights: at each penalty, (L, D).
        names: of the inputs, D.
        target_name: what is predicted.
        gap_left: how far the loss may be above the least, where that was not reached; else 0.
    """
    check_shape("penalties", penalties, "L")
    check_shape("weights", weights, len(penalties), "D")
    check_names("names", names, weights.shape[1])
    paths = weights.detach().cpu().T  # (D, L)
    order = paths[:, -1].abs().argsort(descending=True, stable=True).tolist()
    return WeightPath(
        target_name=target_name,
        penalties=tuple(penalties.tolist()),
        named=tuple(
            NamedPath(name=names[place], weights=tuple(paths[place].tolist()))
            for place in order[:MOST_NAMED]
        ),
        others=tuple(tuple(paths[place].tolist()) for place in order[MOST_NAMED:MOST_FAINT]),
        num_kept=int(paths[:, -1].count_nonzero()),
        num_inputs=len(paths),
        gap_left=gap_left,
    )
