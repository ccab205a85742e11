r"""Parameter counts of dense networks: what the widths say, and what is really allocated.

A layer of d inputs and d' outputs has d d' weights and d' biases. The networks are built on
torch's meta device, where tensors have a shape and no memory: 77 billion weights cost nothing.

Source: Bishop, "Pattern Recognition and Machine Learning" (2006), section 5.1.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import torch

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals


@dataclass(frozen=True, kw_only=True)
class Dense:
    """A dense network on pictures.

    Args:
        name: for the chart.
        picture: (channels, height, width).
        widths: of the layers after the picture.
    """

    name: str
    picture: tuple[int, int, int]
    widths: tuple[int, ...]

    @property
    def formula(self) -> int:
        """sum_l (d_l + 1) d_{l+1}."""
        widths = (math.prod(self.picture), *self.widths)
        return sum((before + 1) * after for before, after in pairwise(widths))


NETWORKS = (
    Dense(name="MNIST network\n784-256-128-10", picture=(1, 28, 28), widths=(256, 128, 10)),
    Dense(name="two layers\n65,536 wide", picture=(1, 256, 256), widths=(65536,) * 2),
    Dense(name="two layers\n196,608 wide", picture=(3, 256, 256), widths=(196608,) * 2),
)
UNIT = Dense(name="weights of one unit\non 200 x 200 x 3", picture=(3, 200, 200), widths=(1,))


@dataclass(frozen=True, kw_only=True)
class ParameterCountsConfig(Config):
    """What the networks are made of."""

    plain: Annotated[
        bool,
        Assumption("layers are affine maps only; without it, each hidden unit is normalised too"),
    ] = True


def build_dense(network: Dense, *, plain: bool = True) -> MLP:
    """Our multi-layer perceptron of these widths, without memory."""
    *hidden, outputs = network.widths
    config = MLPConfig(hidden=tuple(hidden), dropout=0.0, batch_norm=not plain)
    spec = DataSpec(inputs="image", input_shape=network.picture, target="real", num_outputs=outputs)
    with torch.device("meta"):
        return MLP.build(config, spec)


def measure_parameter_counts(given: ParameterCountsConfig, seed: int, effort: Effort) -> Verdict:
    """Build the networks without memory and count."""
    nets = [build_dense(network, plain=given.plain) for network in NETWORKS]
    counted = [sum(parameter.numel() for parameter in net.parameters()) for net in nets]
    counted = [build_dense(UNIT).head.weight.numel(), *counted]  # the weights, without the bias
    formula = [math.prod(UNIT.picture), *(network.formula for network in NETWORKS)]
    names = [UNIT.name, *(f"weights and biases,\n{network.name}" for network in NETWORKS)]
    places = range(len(names))
    return Verdict(
        findings=tuple(
            equals(name.replace("\n", " "), told, count, n=1)
            for name, told, count in zip(names, formula, counted, strict=True)
        ),
        chart=ClaimChart(
            x_label="network",
            y_label="parameters",
            series=(
                predicted("formula", places, formula),
                measured("allocated", places, counted),
            ),
            explanation="Weights and biases of three networks, and the weights of one unit. A "
            "dense layer on a picture has a weight for each pair of a pixel and a unit: "
            "twice the side length is four times the weights of each unit.",
            log="y",
            categories=(UNIT.name, *(network.name for network in NETWORKS)),
        ),
    )


PARAMETER_COUNTS = Claim(
    card=Card(
        sentence="A dense network has one parameter for each pair of neighbouring units, and one "
        "bias for each unit.",
        formula=r"P = \sum_{l=0}^{L-1} (d_l + 1) \, d_{l+1}",
        symbols={"P": "parameters", "d_l": "width of layer l, inputs first", "L": "layers"},
        source="Bishop (2006), Pattern Recognition and Machine Learning, section 5.1",
        misprint="The weights of one hidden unit are often given as those of the whole layer, and "
        "their growth with the picture is called exponential; it is linear in the pixels.",
    ),
    topic="Counting and cost",
    kind="theorem",
    settings=ParameterCountsConfig,
    experiment=measure_parameter_counts,
)
