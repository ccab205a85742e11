r"""Weight decay and the skip connection: a residual network decays to the identity.

With nothing to learn, weight decay multiplies all weights by 1 - eta lambda a step. The layers

    plain     phi(W x + b)                    -> phi(0), and the input is forgotten
    residual  x + (phi(W x + b) - phi(0))     -> x

so that |f(x) - x| of a residual network shrinks by the factor 1 - eta lambda in the end.

Shapes: B inputs, D features of every layer.
Source: He et al., "Identity Mappings in Deep Residual Networks" (2016).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Positive
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, line, predicted
from netwright.layers.activations import build_activation
from netwright.layers.residual import Residual, value_at_zero
from netwright.models.mlp import MLP, MLPConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, equals

NETS = {"quick": 2, "full": 20}  # of each activation
ACTIVATIONS = ("relu", "tanh", "sigmoid")
CLOSE = 1e-3
LEFT = 1e-5  # of a weight at the end
LOOKS = 12  # at the network, while it decays
SLOWEST, FASTEST = 0.005, 0.5  # share of a weight that a step takes


@dataclass(frozen=True, kw_only=True)
class ResidualDecayConfig(Config):
    """The network, and how fast it decays."""

    width: Annotated[int, Interval(ge=1, le=256), Doc("D, units of every layer")] = 16
    depth: Annotated[int, Interval(ge=1, le=50), Doc("hidden layers")] = 6
    lr: Annotated[Positive, Doc("eta, the step size")] = 0.1
    weight_decay: Annotated[Fraction, Doc("lambda")] = 0.9
    skip: Annotated[bool, Assumption("each layer adds to its input")] = True
    rest_subtracted: Annotated[
        bool, Assumption("phi(0) is subtracted, so that a layer of zero weights adds nothing")
    ] = True

    def __post_init__(self) -> None:
        """Refuse a decay that takes for ever, or is over at once."""
        super().__post_init__()
        if not SLOWEST <= self.lr * self.weight_decay <= FASTEST:
            raise ConfigError(
                f"lr times weight_decay must be from {SLOWEST:g} to {FASTEST:g}, "
                f"got {self.lr * self.weight_decay:g}"
            )

    @property
    def factor(self) -> float:
        """What a step leaves of a weight."""
        return 1 - self.lr * self.weight_decay

    @property
    def every(self) -> int:
        """Steps between two looks at the network; after LOOKS of them next to nothing is left."""
        return math.ceil(math.log(LEFT) / math.log(self.factor) / LOOKS)


def build_net(given: ResidualDecayConfig, activation: str, residual: bool, seed: int) -> MLP:
    """An MLP whose hidden layers have as many units as there are inputs."""
    config = MLPConfig(
        hidden=(given.width,) * given.depth, activation=activation, residual=residual, dropout=0.0
    )
    spec = DataSpec(
        inputs="features", input_shape=(given.width,), target="real", num_outputs=given.width
    )
    with seeded(derive_seed(seed, activation)):
        net = MLP.build(config, spec).double()
    if not given.rest_subtracted:
        for layer in net.hidden:
            if isinstance(layer, Residual):
                layer.rest = 0.0
    return net


def distances(given: ResidualDecayConfig, net: MLP, x: Tensor, end: Tensor) -> Tensor:
    """|f(x) - end| / |x| of the hidden layers, the mean over x, before and while they decay."""
    rate = OPTIMIZERS.load("sgd")
    optimizer = build_optimizer(rate, net, lr=given.lr, weight_decay=given.weight_decay)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)  # nothing to learn: the decay alone is left
    found = []
    for step in range(LOOKS * given.every + 1):
        if step % given.every == 0:
            with torch.no_grad():
                found.append(((net.hidden(x) - end).norm(dim=1) / x.norm(dim=1)).mean())
        optimizer.step()
    return torch.stack(found)


def measure_residual_decay(given: ResidualDecayConfig, seed: int, effort: Effort) -> Verdict:
    """Let residual and plain networks decay, and see where their outputs go."""
    x = torch.randn(32, given.width, generator=generator(seed, "inputs"), dtype=torch.float64)
    to_input, to_rest = [], []
    for activation in ACTIVATIONS:
        rest = torch.full_like(x, value_at_zero(build_activation(activation)))
        for i in range(NETS[effort]):
            own = derive_seed(seed, "net", i)
            to_input.append(distances(given, build_net(given, activation, given.skip, own), x, x))
            to_rest.append(distances(given, build_net(given, activation, False, own), x, rest))
    residual, plain = torch.stack(to_input), torch.stack(to_rest)  # (nets, looks)
    factor, steps = given.factor, [look * given.every for look in range(LOOKS + 1)]
    mean = residual.mean(dim=0)
    last_factors = (residual[:, -1] / residual[:, -2]).pow(1 / given.every)
    return Verdict(
        findings=(
            at_most(
                "|f(x) - x| / |x| of residual networks at the end, the largest",
                CLOSE,
                float(residual[:, -1].max()),
                n=len(residual),
            ),
            at_most(
                "|f(x) - phi(0)| / |x| of plain networks at the end, the largest",
                CLOSE,
                float(plain[:, -1].max()),
                n=len(plain),
            ),
            equals(
                "factor by which |f(x) - x| shrinks in a step, the one furthest off",
                factor,
                float(last_factors[(last_factors - factor).abs().argmax()]),
                within=CLOSE,
                n=len(residual),
            ),
        ),
        chart=ClaimChart(
            x_label="steps of weight decay alone, k",
            y_label="distance over |x|",
            series=(
                predicted(
                    f"{factor:g}^k, through the last point",
                    steps,
                    [float(mean[-1]) * factor ** (step - steps[-1]) for step in steps],
                ),
                line(
                    "residual networks, to the input x"
                    if given.skip
                    else "no skip, to the input x",
                    steps,
                    mean.tolist(),
                ),
                line("plain networks, to φ(0)", steps, plain.mean(dim=0).tolist()),
            ),
            explanation="Without a loss, weight decay takes all weights to 0: what is left is the "
            "skip connection, if there is one, and φ(0), if it is not subtracted.",
            log="y",
        ),
    )


RESIDUAL_IDENTITY = Claim(
    card=Card(
        sentence="Weight decay pulls a residual network towards the identity, a plain one towards"
        " a constant.",
        formula=r"W, b \to 0: \quad x + (\phi(Wx + b) - \phi(0)) \to x,"
        r" \qquad \phi(Wx + b) \to \phi(0)",
        symbols={
            "x": "what comes into a layer, (D)",
            "W, b": "weights (D, D) and bias (D), which decay by 1 - eta lambda a step",
            r"\phi": "the activation; phi(0) is 0 for ReLU and tanh, 1/2 for the sigmoid",
        },
        source="He, Zhang, Ren and Sun (2016), ECCV, 630-645",
    ),
    topic="Networks",
    kind="theorem",
    settings=ResidualDecayConfig,
    experiment=measure_residual_decay,
)
