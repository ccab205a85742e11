"""Rosenblatt's machine of two layers: fixed random threshold units, then a perceptron.

Only the last layer learns. The random units are enough to part what no plane parts, if there are
many of them.

Shapes: B batch, D inputs, H units, C classes.
Source: Rosenblatt, "Principles of Neurodynamics" (1962), chapter 5.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.data.spec import DataSpec
from netwright.layers.threshold import heaviside
from netwright.models.neurons.perceptron import Perceptron, PerceptronConfig


@dataclass(frozen=True, kw_only=True)
class RosenblattConfig(PerceptronConfig):
    """Settings of Rosenblatt's machine."""

    units: Annotated[Size, Doc("number of random threshold units, which are not trained")] = 500


class Rosenblatt(Perceptron):
    """A perceptron that sees random threshold units instead of the inputs."""

    settings: ClassVar[type[Config]] = RosenblattConfig
    card: ClassVar[Card] = Card(
        sentence="A perceptron on top of a layer of random threshold units that never learns.",
        formula=r"h = \Theta(A x + a), \quad f(x) = \operatorname{sgn}(w^T h + b), \quad"
        r" A_{ij}, a_i \sim N(0, 1)",
        symbols={
            "x": "one input, flattened, (D)",
            "A, a": "random weights (H, D) and biases (H) of the units, drawn once",
            r"\Theta": "the step: 1 above zero, else 0",
            "h": "which units fire, (H)",
            "w, b": "weights (H) and bias of the perceptron, which alone are learned",
        },
        source="Rosenblatt (1962), Principles of Neurodynamics, chapter 5",
    )
    met: ClassVar[str] = "the output of its units"
    unit_weight: Tensor
    unit_bias: Tensor

    def __init__(self, config: RosenblattConfig, spec: DataSpec) -> None:
        super().__init__(config, spec, width=config.units)
        self.register_buffer("unit_weight", torch.randn(config.units, spec.num_features))
        self.register_buffer("unit_bias", torch.randn(config.units))

    def features(self, x: Tensor) -> Tensor:
        """(B, ...) -> which units fire (B, H)."""
        return heaviside(nn.functional.linear(x.flatten(1), self.unit_weight, self.unit_bias))
