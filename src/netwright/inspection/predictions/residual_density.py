"""Residuals beside the normal density that a model takes them for.

Shapes: N examples, K outputs, E edges of the histogram.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.histogram import histogram, histogram_edges
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, percent, quoted, short_name
from netwright.metrics.samples import weighted_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OUTPUTS = 4
WITHIN_TWO = 0.9545  # of a normal distribution lies within two standard deviations


@dataclass(frozen=True, kw_only=True)
class OutputDensity:
    """The residuals of one output, in standard deviations of its noise.

    Args:
        name: of the output.
        edges: of the histogram, (E,).
        density: of the residuals between them; its area is 1, (E - 1,).
        inside: the share within two standard deviations.
    """

    name: str
    edges: tuple[float, ...]
    density: tuple[float, ...]
    inside: float


@dataclass(frozen=True, kw_only=True)
class ResidualDensity(View):
    """A histogram an output, and the normal density over it.

    Args:
        outputs: the first few.
        num_examples: how many were measured.
    """

    title: ClassVar[str] = "Residuals and normal noise"

    outputs: tuple[OutputDensity, ...]
    num_examples: int

    @property
    def size(self) -> tuple[float, float]:
        """A panel an output, side by side."""
        return (2.0 + 3.6 * len(self.outputs), 3.6)

    @property
    def caption(self) -> str:
        """How many residuals lie where normal noise would."""
        shares = "; ".join(
            f"{quoted(output.name)}: {percent(output.inside)} within two" for output in self.outputs
        )
        return (
            f"Residuals, in standard deviations of the noise ({self.num_examples:,} "
            f"examples). {shares}; for normal noise it would be {percent(WITHIN_TWO)}. Bars far "
            f"from "
            "the dashed curve say that the noise is not normal, or not the same everywhere."
        )

    def draw(self, figure: "Figure") -> None:
        """Bars, and the bell over them."""
        panels = figure.subplots(1, len(self.outputs), squeeze=False)[0]
        for axes, output in zip(panels, self.outputs, strict=True):
            axes.stairs(
                output.density,
                output.edges,
                fill=True,
                color=COLOURS[0],
                alpha=0.6,
                label="residuals",
            )
            z = np.linspace(min(-3.5, output.edges[0]), max(3.5, output.edges[-1]), 300)
            bell = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
            axes.plot(z, bell, color=COLOURS[1], linestyle="--", label="normal density")
            axes.set(
                xlabel="(true - predicted) / deviation",
                ylabel="density",
                title=short_name(output.name, 30),
            )
            axes.set_ylim(0, 1.25 * max(*output.density, bell.max()))  # room for the legend
            axes.legend(loc="upper right")


def measure_residual_density(
    residuals: Tensor, names: Sequence[str], weights: Tensor | None = None
) -> ResidualDensity:
    """Put the residuals into bins.

    Args:
        residuals: true minus predicted over the standard deviation of the noise, (N, K).
        names: of the outputs, K.
        weights: how much each example counts, (N,).
    """
    check_shape("residuals", residuals, "N", "K")
    check_names("names", names, residuals.shape[1])
    residuals = residuals.detach().cpu().double()
    weights = None if weights is None else weights.cpu()
    return ResidualDensity(
        outputs=tuple(
            _of_output(name, column, weights)
            for name, column in zip(names[:MOST_OUTPUTS], residuals.T, strict=False)
        ),
        num_examples=len(residuals),
    )


def _of_output(name: str, residuals: Tensor, weights: Tensor | None) -> OutputDensity:
    edges = histogram_edges(residuals, len(residuals))
    amounts = np.array(histogram(residuals, edges, weights))
    density = amounts / amounts.sum() / np.diff(edges)
    return OutputDensity(
        name=name,
        edges=edges,
        density=tuple(density.tolist()),
        inside=float(weighted_mean((residuals.abs() <= 2).double(), weights)),
    )
