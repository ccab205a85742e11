"""The rows that a regression misses most.

Shapes: N examples, K outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, SMALL
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, number, quoted, short_name, signed
from netwright.metrics.regression import mae

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_OUTPUTS = 4
LINE, HEADING = 0.27, 0.9  # inches: an error, and what stands above and below them


@dataclass(frozen=True, kw_only=True)
class RowError:
    """One row that was missed.

    Args:
        row: its place in the split, from 0; not a line of the file that the split is from.
        true: its target.
        predicted: what the model said.
    """

    row: int
    true: float
    predicted: float

    @property
    def error(self) -> float:
        """Predicted minus true: above 0, the prediction is too high."""
        return self.predicted - self.true


@dataclass(frozen=True, kw_only=True)
class OutputErrors:
    """The largest errors of one output.

    Args:
        name: of the output.
        mae: the mean absolute error of all rows.
        rows: the largest error first.
    """

    name: str
    mae: float
    rows: tuple[RowError, ...]


@dataclass(frozen=True, kw_only=True)
class WorstErrors(View):
    """The rows with the largest absolute errors, a panel an output.

    Args:
        outputs: the first few.
        num_outputs: how many there are.
        is_sample: whether the rows are a sample of the split.
    """

    title: ClassVar[str] = "Worst errors"

    outputs: tuple[OutputErrors, ...]
    num_outputs: int
    is_sample: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """A line an error."""
        return (6.8, sum(HEADING + LINE * len(output.rows) for output in self.outputs))

    @property
    def caption(self) -> str:
        """The largest error beside the mean one."""
        worst = "; ".join(
            f"{quoted(one.name)} in row {one.rows[0].row} by {number(abs(one.rows[0].error))} "
            f"(on average by {number(one.mae)})"
            for one in self.outputs
        )
        sample = " in a sample of the split" if self.is_sample else ""
        left_out = f" The first {len(self.outputs)} of {self.num_outputs} outputs are shown."
        return (
            f"Missed most{sample}: {worst}. "
            "Each line goes from the true value to the predicted one."
            " Rows are counted from 0 within the split."
            f"{left_out if len(self.outputs) < self.num_outputs else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """A line from the true value to the predicted one, the worst on top."""
        heights = [HEADING + LINE * len(output.rows) for output in self.outputs]
        panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, output in zip(panels, self.outputs, strict=True):
            _draw_lines(axes, output)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)

    def table_rows(self) -> list[dict[str, str]]:
        """The same rows for a table."""
        return [
            {
                "output": short_name(output.name, 60),
                "row": str(one.row),
                "true": number(one.true),
                "predicted": number(one.predicted),
                "error": signed(one.error),
            }
            for output in self.outputs
            for one in output.rows
        ]


def measure_worst_errors(
    targets: Tensor,
    predictions: Tensor,
    target_names: Sequence[str],
    count: int = 12,
    rows: Tensor | None = None,
) -> WorstErrors:
    """Find the rows with the largest absolute error of each output.

    Args:
        targets: what is true, (N, K).
        predictions: (N, K).
        target_names: K names.
        count: how many of each output, at most.
        rows: the places in the split (N,) where the examples are a sample of it.
    """
    check_positive("count", count)
    check_shape("targets", targets, "N", "K")
    mae(predictions, targets)  # refuses shapes that differ, and what is not finite
    targets, predictions = targets.detach().cpu(), predictions.detach().cpu()
    check_names("target_names", target_names, targets.shape[1])
    places = torch.arange(len(targets)) if rows is None else rows
    return WorstErrors(
        outputs=tuple(
            _of_output(name, targets[:, place], predictions[:, place], places, count)
            for place, name in enumerate(target_names[:MOST_OUTPUTS])
        ),
        num_outputs=len(target_names),
        is_sample=rows is not None,
    )


def _of_output(
    name: str, true: Tensor, predicted: Tensor, rows: Tensor, count: int
) -> OutputErrors:
    errors = (predicted.double() - true.double()).abs()
    worst = errors.argsort(descending=True, stable=True)[:count]
    return OutputErrors(
        name=name,
        mae=mae(predicted, true),
        rows=tuple(
            RowError(
                row=int(rows[place]), true=float(true[place]), predicted=float(predicted[place])
            )
            for place in worst.tolist()
        ),
    )


def _draw_lines(axes: "Axes", output: OutputErrors) -> None:
    places = range(len(output.rows))
    true, predicted = [one.true for one in output.rows], [one.predicted for one in output.rows]
    axes.hlines(places, true, predicted, color=FAINT, linewidth=1.5, zorder=1)
    axes.scatter(true, places, s=36, color=COLOURS[0], label="true", zorder=2)
    axes.scatter(
        predicted,
        places,
        s=36,
        facecolors="white",
        edgecolors=COLOURS[1],
        linewidths=1.8,
        label="predicted",
        zorder=3,
    )
    words = [f"row {one.row} ({signed(one.error)})" for one in output.rows]
    axes.set_yticks(places, words, fontsize=SMALL)
    axes.set_ylim(len(output.rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(short_name(output.name, 40))
