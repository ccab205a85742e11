"""Gradient flow: how large the gradient is at every layer, on its way from the loss to the input.

    delta_l = d loss / d z_l,    |delta_l| / |delta_{l+1}| = the factor of one layer

Where the factor stays below 1, gradients vanish towards the input; above 1 they explode. On a
logarithmic axis both are a slope. Where layers go past each other, as in residual networks, norms
go up and down from row to row, and there may be no trend at all.

Shapes: z_l what layer l puts out, L layers, S steps of training.
Source: Bengio, Simard and Frasconi, "Learning Long-Term Dependencies with Gradient Descent Is
Difficult" (1994); Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward
Neural Networks" (2010).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.errors import DataError
from netwright.core.evaluation import call_with, evaluating
from netwright.core.seeding import seeded
from netwright.core.trees import Tree, count_rows
from netwright.inspection.drawing.figure_style import COLOURS, log_scale, white_to_blue
from netwright.inspection.drawing.ticks import name_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, number, quoted, shown_of
from netwright.inspection.inside.watched_layers import layer_name, spread_evenly, watching_layers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 24
ROW = 0.27  # inches
LEAST_FIT = 0.5  # of the norms' logarithms that a line explains where there is a trend
NEVER = "#d3d8de"  # the colour of a gradient that was not there, or 0


@dataclass(frozen=True, kw_only=True)
class LayerGradient:
    """The gradient at one layer.

    Args:
        path: where it is in the model.
        output: the norm of the loss's gradient by what the layer puts out.
        weights: the norm of its gradient by the layer's parameters, all together.
        size: the norm of these parameters.
    """

    path: str
    output: float
    weights: float
    size: float

    @property
    def ratio(self) -> float:
        """The gradient beside what it would change."""
        return self.weights / self.size if self.size else 0.0


@dataclass(frozen=True, kw_only=True)
class TrainedGradients:
    """The norms of weight gradients that were noted while training.

    Args:
        layers: L names, from the input to the output.
        steps: S of them, rising.
        norms: (L, S); None where a layer did not learn.
    """

    layers: tuple[str, ...]
    steps: tuple[int, ...]
    norms: tuple[tuple[float | None, ...], ...]

    def __post_init__(self) -> None:
        """Refuse norms that are not one a layer and step."""
        check_names("layers", self.layers, len(self.norms))
        for row in self.norms:
            check_names("steps", [str(step) for step in self.steps], len(row))


@dataclass(frozen=True, kw_only=True)
class GradientFlow(View):
    """Gradients by layer on a batch, and, where they were noted, by layer and step.

    Args:
        layers: in the order in which they ran.
        examples: of the batch.
        trained: what was noted while training; None where nothing was.
    """

    title: ClassVar[str] = "Gradient flow"

    layers: tuple[LayerGradient, ...]
    examples: int
    trained: TrainedGradients | None = None

    @property
    def size(self) -> tuple[float, float]:
        """A row a layer, in one or two panels above each other."""
        return (9.4, sum(self._heights))

    @property
    def factor(self) -> float | None:
        """What one layer towards the input multiplies the gradient by, on average.

        It is the slope of a line through the logarithms; None where there are not two of them.
        """
        heights = self._heights_of_outputs
        if len(heights) < 2:
            return None
        return float(np.exp(-np.polyfit(range(len(heights)), heights, 1)[0]))

    @property
    def has_trend(self) -> bool:
        """Whether a line through the logarithms explains them, or they are all the same."""
        heights = self._heights_of_outputs
        line = np.polyval(np.polyfit(range(len(heights)), heights, 1), range(len(heights)))
        spread = np.var(heights)
        return bool(spread < 1e-12 or 1 - np.mean((heights - line) ** 2) / spread >= LEAST_FIT)

    @property
    def _heights_of_outputs(self) -> NDArray[np.float64]:
        """Logarithms of the gradients at outputs, but for those that are 0."""
        return np.log([layer.output for layer in self.layers if layer.output > 0])

    @property
    def caption(self) -> str:
        """The factor of a layer, and what the panels are."""
        few = ""
        if len(self._shown) < len(self.layers):
            few = f" {shown_of(len(self._shown), len(self.layers))} layers are drawn."
        later = (
            " Bottom: the norm of each layer's weight gradient over training, the darker the "
            "larger, in powers of ten."
            if self.trained
            else ""
        )
        return (
            f"{self._slope_in_words()} Left: the norm of the loss's gradient at each layer's "
            f"output and weights, on {self.examples:,} examples, from the input down to "
            "the output; the axis is logarithmic, so a vanishing or exploding gradient shows as a "
            "slope. Right: the norm of the weight gradient relative to the weights."
            f"{few}{later}"
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row a layer, for a page or a terminal."""
        return [
            {
                "layer": layer.path or "(the model)",
                "gradient at its output": number(layer.output),
                "of its weights": number(layer.weights),
                "weights": number(layer.size),
                "ratio": number(layer.ratio),
            }
            for layer in self.layers
        ]

    def draw(self, figure: "Figure") -> None:
        """By layer above, by layer and step below."""
        heights = self._heights
        top, *bottom = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).flat
        self._draw_layers(top)
        if self.trained is not None:
            _draw_trained(bottom[0], self.trained)

    def _draw_layers(self, figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        layers = self._shown
        _draw_norms(left, [layer.output for layer in layers], COLOURS[0], "at its output")
        _draw_norms(left, [layer.weights for layer in layers], COLOURS[1], "at its weights")
        _draw_norms(right, [layer.ratio for layer in layers], COLOURS[1], "")
        left.set(title="gradient", xlabel="norm")
        right.set(title="gradient of weights / weights", xlabel="ratio of norms")
        left.legend(fontsize=9, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 0.98))
        left.set_yticks(range(len(layers)), [layer_name(one.path) for one in layers], fontsize=9)
        left.set_ylim(len(layers) - 0.5, -0.5)

    @property
    def _shown(self) -> list[LayerGradient]:
        return spread_evenly(self.layers, MOST_ROWS)

    @property
    def _heights(self) -> list[float]:
        counts = [len(self._shown)]
        counts += [min(len(self.trained.layers), MOST_ROWS)] if self.trained else []
        return [1.3 + ROW * max(count, 4) for count in counts]

    def _slope_in_words(self) -> str:
        factor = self.factor
        if factor is None:
            return "Fewer than two layers receive a gradient."
        first, last = self.layers[0], self.layers[-1]
        told = (
            f"On average over the layers in the order in which they ran, one towards the input "
            f"multiplies the gradient by {number(factor)}"
            if self.has_trend
            else "The gradient has no trend over the layers in the order in which they ran"
        )
        return (
            f"{told}: from {number(last.output)} at {quoted(last.path or 'model')} to "
            f"{number(first.output)} at {quoted(first.path or 'model')}."
        )


def _draw_norms(axes: "Axes", norms: list[float], colour: str, label: str) -> None:
    """Dots on a line, a row a layer; a norm of 0 has no place on the axis."""
    places = [place for place, norm in enumerate(norms) if norm > 0]
    axes.plot([norms[place] for place in places], places, "o-", color=colour, label=label)
    log_scale(axes, "x")


def _draw_trained(figure: Any, trained: TrainedGradients) -> None:
    axes = figure.subplots()
    rows = spread_evenly(range(len(trained.layers)), MOST_ROWS)
    norms = np.array([trained.norms[row] for row in rows], dtype=float)  # None is NaN
    with np.errstate(divide="ignore"):
        powers = np.log10(norms)
    powers[~np.isfinite(powers)] = np.nan
    shown = axes.imshow(powers, cmap=white_to_blue(NEVER), aspect="auto", interpolation="none")
    name_ticks(axes, "x", [f"{step:,}" for step in trained.steps], 6.0)
    axes.set_yticks(range(len(rows)), [layer_name(trained.layers[row]) for row in rows], fontsize=9)
    axes.set(title="gradient of the weights while training", xlabel="step")
    axes.grid(visible=False)
    figure.colorbar(shown, ax=axes, label="log10 of the norm")


def measure_gradient_flow(
    model: nn.Module,
    inputs: Tree,
    loss: Callable[[Any], Tensor],
    *,
    trained: TrainedGradients | None = None,
) -> GradientFlow:
    """Send a batch forward and back, in evaluation mode, and note the gradient at every layer.

    Args:
        model: any module of one input; it is left exactly as it was. Frozen parts are looked at
            like all others.
        inputs: a batch (B, ...), on the model's device.
        loss: the model's output -> one number.
        trained: what was noted while training, to be shown beside it.
    """
    weights = {name: one.detach().requires_grad_() for name, one in model.named_parameters()}
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    outputs: dict[str, list[Tensor]] = {}

    def note(path: str, _: nn.Module, given: list[Tensor]) -> None:
        outputs.setdefault(path, []).extend(one for one in given if one.requires_grad)

    with evaluating(model), seeded(0), torch.enable_grad(), watching_layers(model, note):
        lost = loss(call_with(model, weights | buffers, inputs))
    if not outputs:
        raise DataError("the model has no layer with weights whose gradient could be shown")
    check_finite("the loss", lost.detach()[None])
    noted = [one for given in outputs.values() for one in given]
    gradients = torch.autograd.grad(lost, [*noted, *weights.values()], allow_unused=True)
    at_outputs = iter(gradients[: len(noted)])
    at_weights = dict(zip(weights, gradients[len(noted) :], strict=True))
    layers = tuple(
        LayerGradient(
            path=path,
            output=_norm([next(at_outputs) for _ in given]),
            weights=_norm([at_weights[name] for name in _names(path, weights)]),
            size=_norm([weights[name] for name in _names(path, weights)]),
        )
        for path, given in outputs.items()
    )
    return GradientFlow(layers=layers, examples=count_rows(inputs), trained=trained)


def _names(path: str, weights: dict[str, Tensor]) -> Iterator[str]:
    """The parameters of the layer at this path."""
    within = f"{path}." if path else ""
    return (name for name in weights if name.startswith(within))


def _norm(parts: list[Tensor | None]) -> float:
    """Of all parts together; what no gradient reaches counts 0."""
    return math.hypot(*(float(part.detach().double().norm()) for part in parts if part is not None))
