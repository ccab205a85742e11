r"""Gradient norms: how long the gradient was while training, step by step.

    |g_t| = sqrt(sum_l |g_{l,t}|^2)        g_{l,t} of the weights of layer l at step t

A norm that falls by powers of ten is a layer that no longer learns; one that rises by powers of ten
explodes; a single peak is a batch that clipping would have tamed.

Shapes: L layers, S steps that were watched.
Source: Pascanu, Mikolov and Bengio, "On the Difficulty of Training Recurrent Neural Networks"
(2013).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, INK, SMALL, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, number, shown_of
from netwright.inspection.inside.watched_layers import layer_name, spread_evenly
from netwright.inspection.training.gradient_flow import TrainedGradients

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_STEPS = 2  # that a curve takes
MOST_LAYERS = 8  # that are drawn: more lines could not be told apart


@dataclass(frozen=True, kw_only=True)
class GradientNorms(View):
    """The norm of the gradient by step, of the whole model and of each layer.

    Args:
        steps: S of them, rising.
        whole: of all layers together, (S).
        layers: L names, from the input to the output.
        norms: (L, S); None where a layer did not learn.
    """

    title: ClassVar[str] = "Gradient norms"

    steps: tuple[int, ...]
    whole: tuple[float, ...]
    layers: tuple[str, ...]
    norms: tuple[tuple[float | None, ...], ...]

    @property
    def size(self) -> tuple[float, float]:
        """One panel, with its legend beside it."""
        return (9.4, 3.6)

    @property
    def caption(self) -> str:
        """Where the norm began, peaked and ended, and how to read the lines."""
        peak = max(range(len(self.steps)), key=lambda place: self.whole[place])
        drawn = shown_of(len(self._drawn), len(self.layers))
        told = {0: "", len(self.steps) - 1: ""} | {peak: "at most "}
        norms = ", ".join(
            f"{said}{number(self.whole[place])} at step {self.steps[place]:,}"
            for place, said in sorted(told.items())
        )
        return (
            f"The norm of the gradient, before it is clipped, at {len(self.steps):,} watched "
            f"steps: {norms}. The thick line is of all layers together, the thin ones "
            f"of {drawn} layer{'' if len(self.layers) == 1 else 's'}; the axis is logarithmic, and "
            "a norm of 0 has no place on it. A line that keeps falling vanishes, one that keeps "
            "rising explodes."
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row a layer that learned, and one for all together."""
        named = {"all layers": self.whole}
        named |= {
            layer_name(layer): tuple(norm for norm in norms if norm is not None)
            for layer, norms in zip(self.layers, self.norms, strict=True)
        }
        return [
            {
                "layer": name,
                "first": number(norms[0]),
                "largest": number(max(norms)),
                "last": number(norms[-1]),
            }
            for name, norms in named.items()
            if norms
        ]

    def draw(self, figure: "Figure") -> None:
        """A line a layer that learned, and the whole above them."""
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

        axes = figure.subplots()
        for place, layer in enumerate(self._drawn):
            norms = self.norms[self.layers.index(layer)]
            axes.plot(
                self.steps,
                [norm or math.nan for norm in norms],  # a norm of 0 has no logarithm
                color=COLOURS[place],
                linewidth=1.1,
                label=legend_name(layer_name(layer)),
            )
        axes.plot(
            self.steps,
            [norm or math.nan for norm in self.whole],
            color=INK,
            linewidth=2.4,
            label="all layers",
        )
        if any(self.whole):
            log_scale(axes, "y")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        axes.set(xlabel="step", ylabel="norm")
        axes.legend(fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5))

    @property
    def _drawn(self) -> list[str]:
        of_layers = zip(self.layers, self.norms, strict=True)
        return spread_evenly([layer for layer, norms in of_layers if any(norms)], MOST_LAYERS)


def measure_gradient_norms(trained: TrainedGradients) -> GradientNorms:
    """The curves of the norms that were noted while training, at two steps or more."""
    if len(trained.steps) < FEWEST_STEPS:
        raise DataError(f"a curve takes {FEWEST_STEPS} steps or more, got {len(trained.steps)}")
    by_step = zip(*trained.norms, strict=True)
    return GradientNorms(
        steps=trained.steps,
        whole=tuple(math.hypot(*(norm or 0.0 for norm in norms)) for norms in by_step),
        layers=trained.layers,
        norms=trained.norms,
    )
