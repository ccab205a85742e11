r"""Units that start alike stay alike: equal weights get equal gradients, step after step.

On XOR such a network is one unit of x_1 + x_2, however wide it is, and the best of them,
2/3 - 2/3 (x_1 + x_2 - 1)_+, is wrong by 1/6 in the mean square.

Shapes: n hidden units.
Source: Rumelhart, Hinton and Williams, "Learning Internal Representations by Error Propagation"
(1986), on symmetry breaking.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.training.claim_chart import ClaimChart, line, predicted
from netwright.models.mlp import MLP
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.networks.network_symmetries import affine_maps, random_net
from netwright.theory.verdict import Verdict, at_least, equals

STARTS = {"quick": 3, "full": 20}
STEPS = {"quick": 200, "full": 1000}
CORNERS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
XOR = torch.tensor([[0.0], [1.0], [1.0], [0.0]], dtype=torch.float64)
SIGNS = torch.tensor([1, -1, -1, 1])  # of weights and biases, as in 2/3 - 2/3 (x_1 + x_2 - 1)_+
FLOOR, ROUNDING = 1 / 6, 1e-9


@dataclass(frozen=True, kw_only=True)
class EqualWeightsConfig(Config):
    """The network that learns XOR."""

    units: Annotated[int, Interval(ge=2, le=1000), Doc("n, hidden ReLU units")] = 8
    lr: Annotated[float, Interval(gt=0, le=0.3), Doc("step size of gradient descent")] = 0.05
    equal_start: Annotated[
        bool, Assumption("the weights of a layer start with one common value")
    ] = True


def starting_net(given: EqualWeightsConfig, seed: int) -> MLP:
    """A network for XOR; equal units have the signs of the best one, which some then find."""
    net = random_net(2, [given.units], "relu", seed)
    if given.equal_start:
        values = torch.rand(4, generator=generator(seed, "values")) * SIGNS / 2
        for parameter, value in zip(net.parameters(), values.tolist(), strict=True):
            nn.init.constant_(parameter, value)
    return net


def train(net: MLP, lr: float, steps: int) -> list[float]:
    """Gradient descent on XOR; the mean squared error before each step."""
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), net, lr=lr)
    errors = []
    for _ in range(steps):
        optimizer.zero_grad()
        error = F.mse_loss(net(CORNERS), XOR)
        error.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        errors.append(error.item())
    return errors


@torch.no_grad()
def largest_difference(net: MLP) -> float:
    """How far two hidden units lie from each other, in any of their weights."""
    incoming, outgoing = affine_maps(net)
    units = torch.cat((incoming.weight, incoming.bias.unsqueeze(1), outgoing.weight.T), dim=1)
    return float((units.amax(dim=0) - units.amin(dim=0)).max())  # over (n, 4)


def measure_equal_weights(given: EqualWeightsConfig, seed: int, effort: Effort) -> Verdict:
    """Train from several starts."""
    nets = [starting_net(given, derive_seed(seed, "start", i)) for i in range(STARTS[effort])]
    errors = [train(net, given.lr, STEPS[effort]) for net in nets]
    best, worst = (choose(errors, key=lambda path: path[-1]) for choose in (min, max))
    steps = range(1, STEPS[effort] + 1)
    return Verdict(
        findings=(
            equals(
                f"largest difference between two units after {len(steps)} steps",
                0,
                max(map(largest_difference, nets)),
                within=ROUNDING,
                n=len(nets),
            ),
            at_least(
                "smallest mean squared error on XOR, over 1/6",
                1 - ROUNDING,
                min(map(min, errors)) / FLOOR,
                n=len(nets),
            ),
        ),
        chart=ClaimChart(
            x_label="steps of gradient descent",
            y_label="mean squared error on XOR",
            series=(
                predicted("1/6, the best that equal units can do", steps, [FLOOR] * len(steps)),
                line(f"best of {len(nets)} starts", steps, best),
                line("worst", steps, worst),
            ),
            explanation="All units of a layer started with one common value: they remain copies "
            "of one unit, and one unit cannot compute XOR."
            if given.equal_start
            else "Units that start apart learn apart, and together they can get below what equal "
            "units can do.",
            log="x",
        ),
    )


EQUAL_WEIGHTS = Claim(
    card=Card(
        sentence="Hidden units that start with equal weights stay equal, so that a network of any"
        " width cannot learn XOR.",
        formula=r"w_i = w_j,\; v_i = v_j \;\Rightarrow\;"
        r" \frac{\partial E}{\partial w_i} = \frac{\partial E}{\partial w_j},"
        r" \qquad E_{\mathrm{XOR}} \ge \frac{1}{6}",
        symbols={
            "w_i": "weights into hidden unit i, with its bias",
            "v_i": "weight out of hidden unit i",
            "E": "mean squared error",
        },
        source="Rumelhart, Hinton and Williams (1986), Parallel Distributed Processing, chapter 8",
    ),
    topic="Networks",
    kind="theorem",
    settings=EqualWeightsConfig,
    experiment=measure_equal_weights,
)
