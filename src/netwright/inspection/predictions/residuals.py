"""Residuals: what is left of the truth when the prediction is taken away.

Shapes: N examples, K outputs.
Source: Anscombe, "Graphs in Statistical Analysis" (1973).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS, FAINT
from netwright.inspection.drawing.histogram import histogram, histogram_edges
from netwright.inspection.drawing.shown_rows import dot_size, shown_rows
from netwright.inspection.drawing.ticks import whole_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, number, quoted, short_name, shown_of
from netwright.metrics.regression import rmse
from netwright.metrics.samples import weighted_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_OUTPUTS = 4
MOST_POINTS = 2_000


@dataclass(frozen=True, kw_only=True)
class OutputResiduals:
    """The residuals (true - predicted) of one output.

    Args:
        name: of the output.
        rmse: root of the mean squared residual.
        bias: the mean residual; above 0, predictions are too low.
        true: the targets that are drawn.
        predicted: the predictions that are drawn, in the same order.
        edges: of the histogram of all residuals.
        amounts: examples in each bin, or sums of their weights.
    """

    name: str
    rmse: float
    bias: float
    true: tuple[float, ...]
    predicted: tuple[float, ...]
    edges: tuple[float, ...]
    amounts: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Residuals(View):
    """Predictions beside the truth, and the histogram of what is left, a row an output.

    Args:
        outputs: the first few.
        num_outputs: how many there are.
        num_examples: how many were measured.
    """

    title: ClassVar[str] = "Residuals"

    outputs: tuple[OutputResiduals, ...]
    num_outputs: int
    num_examples: int

    @property
    def size(self) -> tuple[float, float]:
        """A row an output."""
        return (7.6, 3.5 * len(self.outputs))

    @property
    def caption(self) -> str:
        """The typical error and the bias of each output."""
        errors = "; ".join(
            f"{quoted(one.name)} is off by {number(one.rmse)} (root mean square), "
            f"on average {_bias_in_words(one.bias)}"
            for one in self.outputs
        )
        drawn = len(self.outputs[0].true)
        points = f" Points: {shown_of(drawn, self.num_examples)} examples."
        left_out = f" The first {len(self.outputs)} of {self.num_outputs} outputs are shown."
        return (
            f"{errors}. Left: on the dashed line predictions are exact. Right: residuals, true "
            "minus predicted; a good fit is narrow and centred on 0."
            f"{points if drawn < self.num_examples else ''}"
            f"{left_out if len(self.outputs) < self.num_outputs else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """Predicted against true on the left, the histogram on the right."""
        rows = figure.subplots(len(self.outputs), 2, squeeze=False)
        for output, (points, bars) in zip(self.outputs, rows, strict=True):
            _draw_points(points, output)
            bars.stairs(output.amounts, output.edges, fill=True, color=COLOURS[0], alpha=0.75)
            bars.axvline(0.0, color=FAINT, linestyle="--", linewidth=1.2)
            bars.set(xlabel="true - predicted", ylabel="examples")
            whole_ticks(bars)


def _bias_in_words(bias: float) -> str:
    if bias == 0:
        return "neither too low nor too high"
    return f"{number(abs(bias))} too {'low' if bias > 0 else 'high'}"


def _draw_points(axes: "Axes", output: OutputResiduals) -> None:
    axes.scatter(
        output.true,
        output.predicted,
        s=dot_size(len(output.true)),
        alpha=0.5,
        color=COLOURS[0],
        linewidths=0,
        rasterized=True,
    )
    ends = (min(output.true + output.predicted), max(output.true + output.predicted))
    axes.plot(ends, ends, color=FAINT, linestyle="--", linewidth=1.2)
    axes.set(xlabel="true", ylabel="predicted", title=short_name(output.name, 30))


def measure_residuals(
    targets: Tensor,
    predictions: Tensor,
    target_names: Sequence[str],
    weights: Tensor | None = None,
) -> Residuals:
    """Take the predictions from the truth, output by output.

    Args:
        targets: what is true, (N, K).
        predictions: (N, K).
        target_names: K names.
        weights: how much each example counts, (N,).
    """
    check_shape("targets", targets, "N", "K")
    rmse(predictions, targets, weights)  # refuses shapes that differ, and what is not finite
    targets, predictions = targets.detach().cpu(), predictions.detach().cpu()
    weights = None if weights is None else weights.cpu()
    num_examples, num_outputs = targets.shape
    check_names("target_names", target_names, num_outputs)
    return Residuals(
        outputs=tuple(
            _of_output(name, targets[:, place], predictions[:, place], weights)
            for place, name in enumerate(target_names[:MOST_OUTPUTS])
        ),
        num_outputs=num_outputs,
        num_examples=num_examples,
    )


def _of_output(
    name: str, true: Tensor, predicted: Tensor, weights: Tensor | None
) -> OutputResiduals:
    residuals = true.double() - predicted.double()
    edges = histogram_edges(residuals, len(residuals))
    shown = shown_rows(len(true), MOST_POINTS)
    return OutputResiduals(
        name=name,
        rmse=rmse(predicted, true, weights),
        bias=weighted_mean(residuals, weights).item(),
        true=tuple(true[shown].tolist()),
        predicted=tuple(predicted[shown].tolist()),
        edges=edges,
        amounts=histogram(residuals, edges, weights),
    )
