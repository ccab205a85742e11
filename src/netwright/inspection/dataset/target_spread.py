"""The spread of real targets: what values there are to predict, split by split.

Shapes: N examples, K outputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import SPLIT_COLOURS, colour_of
from netwright.inspection.drawing.histogram import histogram, histogram_edges
from netwright.inspection.drawing.ticks import percent_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, number, quoted, short_name
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OUTPUTS = 4


@dataclass(frozen=True, kw_only=True)
class OutputSpread:
    """The values of one target.

    Args:
        name: of the target.
        edges: of the bins, the same for all splits.
        shares: split -> the share of its examples in each bin.
        means: split -> the mean.
        deviations: split -> the standard deviation.
    """

    name: str
    edges: tuple[float, ...]
    shares: dict[str, tuple[float, ...]]
    means: dict[str, float]
    deviations: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class TargetSpread(View):
    """Histograms of the targets, a panel a target and a line a split.

    Args:
        outputs: the first few.
        num_outputs: how many there are.
    """

    title: ClassVar[str] = "Spread of the targets"

    outputs: tuple[OutputSpread, ...]
    num_outputs: int

    @property
    def size(self) -> tuple[float, float]:
        """Two panels a row."""
        return (6.0, 3.4) if len(self.outputs) == 1 else (8.0, 2.9 * self._num_rows)

    @property
    def caption(self) -> str:
        """Mean and deviation in the first split."""
        split = next(iter(self.outputs[0].means))
        spreads = "; ".join(
            f"{quoted(one.name)} {number(one.means[split])} and {number(one.deviations[split])}"
            for one in self.outputs
        )
        left_out = f" The first {len(self.outputs)} of {self.num_outputs} targets are shown."
        return (
            f"Mean and standard deviation in {split}: {spreads}. A model that always predicts the "
            f"mean has an RMSE of one standard deviation. Where the splits differ in shape, "
            f"training and evaluation do not match."
            f"{left_out if len(self.outputs) < self.num_outputs else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """Outlines over each other, the first split filled."""
        columns = 1 if len(self.outputs) == 1 else 2
        panels = figure.subplots(self._num_rows, columns, squeeze=False).flatten()
        for output, axes in zip(self.outputs, panels, strict=False):
            for place, (split, shares) in enumerate(output.shares.items()):
                colour = SPLIT_COLOURS.get(split, colour_of(place))
                if place == 0:
                    axes.stairs(shares, output.edges, fill=True, color=colour, alpha=0.25)
                axes.stairs(
                    shares, output.edges, color=colour, linewidth=1.8, label=legend_name(split)
                )
            axes.set(xlabel=short_name(output.name, 40), ylabel="share of the examples")
            percent_ticks(axes)
        for axes in panels[len(self.outputs) :]:
            axes.remove()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))

    @property
    def _num_rows(self) -> int:
        return (len(self.outputs) + 1) // 2


def measure_target_spread(
    splits: Mapping[str, Tensor], target_names: Sequence[str]
) -> TargetSpread:
    """Histograms of the targets of each split.

    Args:
        splits: name -> reals (N, K).
        target_names: K names.
    """
    if not splits:
        raise DataError("splits must have at least one split, got none")
    for split, targets in splits.items():
        check_shape(f"the targets of {split}", targets, "N", len(target_names))
        check_not_empty(f"the targets of {split}", targets)
        check_finite(f"the targets of {split}", targets)
    return TargetSpread(
        outputs=tuple(
            _of_output(name, {split: targets[:, place] for split, targets in splits.items()})
            for place, name in enumerate(target_names[:MOST_OUTPUTS])
        ),
        num_outputs=len(target_names),
    )


def _of_output(name: str, splits: Mapping[str, Tensor]) -> OutputSpread:
    exact = {split: values.detach().cpu().double() for split, values in splits.items()}
    largest = max(len(values) for values in exact.values())
    edges = histogram_edges(torch.cat(list(exact.values())), largest)
    return OutputSpread(
        name=name,
        edges=edges,
        shares={
            split: tuple(count / len(values) for count in histogram(values, edges))
            for split, values in exact.items()
        },
        means={split: values.mean().item() for split, values in exact.items()},
        deviations={split: values.std(correction=0).item() for split, values in exact.items()},
    )
