"""Activations: what every layer puts out on real examples, and which of its units are stuck.

A unit is dead where it is exactly 0 on every example: behind a ReLU no gradient reaches it. It is
saturated where it is at an end of its range on every example: there the slope is next to nothing.

Shapes: B examples.
Source: Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward Neural
Networks" (2010), section 3; Maas, Hannun and Ng, "Rectifier Nonlinearities Improve Neural Network
Acoustic Models" (2013).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import nn

from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows
from netwright.inspection.drawing.figure_style import COLOURS, FAINT
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, percent, quoted, shown_of
from netwright.inspection.inside.layer_activity import LayerActivity, layer_activities
from netwright.inspection.inside.watched_layers import spread_evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 24
WIDE = 20  # times the narrowest spread: more does not go on a plain axis


@dataclass(frozen=True, kw_only=True)
class Activations(View):
    """The spread of every layer's values from the input to the output, and its stuck units.

    Args:
        layers: in the order in which they ran.
        examples: B.
    """

    title: ClassVar[str] = "Activations"

    layers: tuple[LayerActivity, ...]
    examples: int

    @property
    def size(self) -> tuple[float, float]:
        """A row a layer."""
        return (9.4, 1.5 + 0.42 * len(self._shown))

    @property
    def worst(self) -> LayerActivity:
        """The layer with the largest share of stuck units."""
        return max(self.layers, key=lambda layer: layer.stuck)

    @property
    def caption(self) -> str:
        """The worst layer, and how to read the two panels."""
        first, last = self.layers[0], self.layers[-1]
        few = ""
        if len(self._shown) < len(self.layers):
            few = f" {shown_of(len(self._shown), len(self.layers))} layers are drawn."
        return (
            f"{self._worst_in_words()} Left: the distribution of each layer's values over "
            f"{self.examples:,} examples, from input to output, without exact zeros; next to it "
            f"the mean ± standard deviation of all values, "
            f"{number(first.std)} in the first layer and {number(last.std)} in the last. Right: "
            f"the share of values that are 0, or saturated at an end of tanh or sigmoid, and of "
            f"units for which that holds on every example, so that they hardly learn.{few}"
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row a layer, for a page or a terminal."""
        return [
            {
                "layer": layer.path or "(the model)",
                "activation": layer.activation,
                "units": f"{layer.units:,}",
                "mean": number(layer.mean),
                "std": number(layer.std),
                "zeros": percent(layer.zeros),
                "dead units": f"{layer.dead:,}",
                "saturated": percent(layer.flat),
                "saturated units": f"{layer.saturated:,}",
            }
            for layer in self.layers
        ]

    def draw(self, figure: "Figure") -> None:
        """Ridges on the left, shares on the right, layers from the input down."""
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(5, 3))
        _draw_spreads(left, self._shown)
        _draw_shares(right, self._shown)
        left.set_yticks(range(len(self._shown)), [layer.label for layer in self._shown], fontsize=9)
        left.set_ylim(len(self._shown) - 0.4, -0.7)
        handles, labels = right.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), fontsize=9)

    @property
    def _shown(self) -> list[LayerActivity]:
        return spread_evenly(self.layers, MOST_ROWS)

    def _worst_in_words(self) -> str:
        worst = self.worst
        if not worst.stuck:
            flattest = max(self.layers, key=lambda layer: layer.flat)
            more = f"; {percent(flattest.flat)} of the values of {quoted(flattest.label)} are"
            more = f"{more} at an end of their range" if flattest.flat else ""
            return f"No unit is dead or saturated on every example{more}."
        many, how = worst.dead, "dead, 0 on every example"
        if worst.saturated > worst.dead:
            many, how = worst.saturated, "saturated on every example"
        return (
            f"Worst is {quoted(worst.label)}: {many:,} of its {worst.units:,} units "
            f"({percent(many / worst.units)}) {'is' if many == 1 else 'are'} {how}."
        )


def _draw_spreads(axes: "Axes", layers: list[LayerActivity]) -> None:
    _scale(axes, layers)
    for place, layer in enumerate(layers):
        base = place + 0.35
        axes.axhline(base, color="#e4e7eb", linewidth=0.8)
        if layer.edges:
            heights = np.array(layer.counts) / max(layer.counts)
            axes.stairs(
                base - 0.8 * heights,
                layer.edges,
                baseline=base,
                fill=True,
                color=COLOURS[0],
                alpha=0.75,
            )
        axes.plot([layer.mean] * 2, [base, base - 0.3], color=COLOURS[1], linewidth=2)
        words = f"{layer.mean:.2g} ± {layer.std:.2g}"
        axes.text(1.02, place, words, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
    axes.text(1.02, 1.0, "mean ± std", transform=axes.transAxes, va="bottom", fontsize=9)
    axes.axvline(0, color=FAINT, linewidth=0.8)
    axes.grid(visible=False, axis="y")
    bent = " (logarithmic away from 0)" if axes.get_xscale() == "asinh" else ""
    axes.set(xlabel=f"value{bent}; orange: the mean", title="spread of the values")


def _scale(axes: "Axes", layers: list[LayerActivity]) -> None:
    """Logarithmic away from 0, where on a plain axis the narrowest spread would be a line."""
    ends = [(layer.edges[0], layer.edges[-1]) for layer in layers if layer.edges]
    reaches = [max(-low, high) for low, high in ends]
    if not reaches or max(reaches) <= WIDE * min(reaches):
        return
    axes.set_xscale("asinh", linear_width=min(reaches))
    first, last = math.ceil(math.log10(min(reaches))), math.floor(math.log10(max(reaches)))
    powers = [10.0**power for power in range(first, last + 1, math.ceil((last - first + 1) / 4))]
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    ticks = [
        tick for tick in (*(-power for power in powers), 0.0, *powers) if least <= tick <= most
    ]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)


def _draw_shares(axes: "Axes", layers: list[LayerActivity]) -> None:
    places = np.arange(len(layers))
    bars = (
        ("values that are 0", COLOURS[5], -0.3, [one.zeros for one in layers]),
        ("units always 0: dead", COLOURS[0], -0.1, [one.dead / one.units for one in layers]),
        ("values at an end", COLOURS[4], 0.1, [one.flat for one in layers]),
        ("units always there", COLOURS[1], 0.3, [one.saturated / one.units for one in layers]),
    )
    for label, colour, shift, shares in bars:
        if any(shares):
            axes.barh(places + shift, shares, height=0.2, color=colour, label=label)
    if not axes.patches:
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=FAINT)
    axes.set(xlim=(0, 1), xlabel="share", title="zero, or at an end")
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


def measure_activations(
    model: nn.Module, inputs: Tree, *, padding: int | None = None
) -> Activations:
    """Send examples through a model and look at what its layers put out.

    Args:
        model: any module of one input; it is left exactly as it was.
        inputs: a batch (B, ...), on the model's device.
        padding: the token that fills rows up: what comes of it does not count. None: there is none.
    """
    layers = layer_activities(model, inputs, padding)
    if not layers:
        raise DataError("the model has no layer with weights whose activations could be shown")
    return Activations(layers=layers, examples=count_rows(inputs))
