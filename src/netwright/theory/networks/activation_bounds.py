r"""Which activations have a bound: the sigmoid and tanh level off, the ReLU never does.

Shapes: N inputs.
Source: Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines" (2010).
"""

from dataclasses import dataclass
from typing import Annotated

import torch

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.theory.claims import Claim, Effort
from netwright.theory.verdict import Verdict, at_most

INPUTS = {"quick": 1000, "full": 100_000}
SCALES = tuple(10.0**power for power in range(7))


@dataclass(frozen=True, kw_only=True)
class BoundConfig(Config):
    """The function that is said to be bounded."""

    activation: Annotated[str, OneOf(ACTIVATIONS), Doc("what stands in the place of the ReLU")] = (
        "relu"
    )


def largest_outputs(activation: str, seed: int, count: int) -> list[float]:
    """The largest size of an output, for inputs within each scale."""
    shares = 2 * torch.rand(count, generator=generator(seed, "inputs"), dtype=torch.float64) - 1
    function = build_activation(activation)
    return [float(function(scale * shares).abs().max()) for scale in SCALES]


def measure_bound(given: BoundConfig, seed: int, effort: Effort) -> Verdict:
    """Let the inputs grow tenfold, again and again; the sigmoid is drawn beside it."""
    largest = largest_outputs(given.activation, seed, INPUTS[effort])
    return Verdict(
        findings=(
            at_most(
                f"growth of the largest output as inputs grow from {SCALES[-2]:.0e} to"
                f" {SCALES[-1]:.0e}",
                1,
                largest[-1] / largest[-2],
                n=INPUTS[effort],
            ),
        ),
        chart=ClaimChart(
            x_label="largest input",
            y_label="largest output",
            series=(
                predicted("1, the bound of the sigmoid", SCALES, [1.0] * len(SCALES)),
                measured(given.activation, SCALES, largest),
                measured("sigmoid", SCALES, largest_outputs("sigmoid", seed, INPUTS[effort])),
            ),
            explanation="A bounded activation levels off, as the sigmoid does. One without a "
            "bound, as the ReLU is, has outputs that grow with its inputs.",
            log="xy",
        ),
    )


RELU_BOUNDED = Claim(
    card=Card(
        sentence="The ReLU is bounded, as the sigmoid is: its outputs stay below a limit.",
        formula=r"\sup_z |\phi(z)| < \infty, \quad \phi(z) = \max(0, z)",
        symbols={"z": "what comes into a unit", r"\phi": "the activation"},
        source="Nair and Hinton (2010), ICML 27, 807-814",
        misprint="The ReLU has no bound: its outputs grow with the inputs, and only its slope is"
        " bounded, by 1. It is often listed among the bounded activations.",
    ),
    topic="Networks",
    kind="false",
    settings=BoundConfig,
    experiment=measure_bound,
)
