r"""Degradation: deeper plain networks fit their training data worse, residual ones do not.

A deep network could copy a shallow one and pass its values through the layers that are left over.
Plain layers do not find the identity; residual layers x + g(x) start near it, and have to learn
only how to differ from it. All networks here have batch normalisation, the same width, first
weights of the same kind, the same steps and the same rate. It is the training loss that is worse:
not overfitting. Nor do gradients vanish: in plain networks with batch normalisation they grow on
their way back.

That 40 residual layers are no worse depends on steps and rate. In four tries their training loss
was 0.7 to 2.0 times that of 4 layers after ten steps with 16 units, 0.7 to 1.3 times with 32, and
less than a third after sixty steps with either; at a rate of 0.01 it was 4 to 7 times after ten
steps and 0.7 to 2.1 times after sixty.

Shapes: B examples, L hidden layers.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015); Yang et al., "A Mean Field
Theory of Batch Normalization" (2019), for the gradients.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from annotated_types import Interval
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.seeding import derive_seed, seeded
from netwright.data.dataset import Data
from netwright.inspection.training.claim_chart import ClaimChart, Series, measured, predicted
from netwright.models.mlp import MLP, MLPConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.held_out import digits
from netwright.theory.verdict import Estimate, Verdict, at_least, at_most, estimate_ratio

SHALLOW, DEEP = 4, 40
DEPTHS = {"quick": (SHALLOW, DEEP), "full": (SHALLOW, 10, 20, DEEP)}
STEPS = {"quick": 10, "full": 60}
TRIES = {"quick": 4, "full": 5}
EXAMPLES = 100
SLACK = 1.1


@dataclass(frozen=True, kw_only=True)
class DegradationConfig(Config):
    """The networks, and how they learn."""

    width: Annotated[int, Interval(ge=8, le=256), Doc("units of every layer")] = 64
    lr: Annotated[Positive, Doc("the learning rate of Adam, the same for all networks")] = 2e-3
    skip: Annotated[
        bool, Assumption("layers of residual networks add to their input; without it, none do")
    ] = True


class Fit(NamedTuple):
    """The training loss at the end, and the gradient of an early layer over that of the last."""

    loss: float
    gradient: float


def build_deep(given: DegradationConfig, depth: int, data: Data, *, residual: bool) -> MLP:
    """A network of so many hidden layers with batch normalisation."""
    config = MLPConfig(
        hidden=(given.width,) * depth, residual=residual, batch_norm=True, dropout=0.0
    )
    return MLP.build(config, data.spec)


def gradient_ratio(net: MLP, loss: Tensor) -> float:
    """|dL/dW| of the second hidden layer over that of the last; the first has other inputs."""
    weights = [
        next(part.weight for part in net.hidden[place].modules() if isinstance(part, nn.Linear))
        for place in (1, -1)
    ]
    early, late = torch.autograd.grad(loss, weights)
    return float(early.norm() / late.norm())


def fit_deep(given: DegradationConfig, depth: int, seed: int, steps: int, *, residual: bool) -> Fit:
    """Learn some digits, all in one batch."""
    data = digits(EXAMPLES, seed % 2**31)
    with seeded(derive_seed(seed, "weights")):
        net = build_deep(given, depth, data, residual=residual)
    optimizer = build_optimizer(OPTIMIZERS.load("adam"), net, lr=given.lr)

    def loss() -> Tensor:
        return cross_entropy(net(data.train.inputs), data.train.targets)

    gradient = gradient_ratio(net, loss())
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return Fit(float(loss()), gradient)


def measure_degradation(given: DegradationConfig, seed: int, effort: Effort) -> Verdict:
    """Train shallow and deep networks, plain and residual."""
    depths, steps = DEPTHS[effort], STEPS[effort]
    seeds = [derive_seed(seed, "degradation", i) for i in range(TRIES[effort])]
    plain, residual = (
        {
            depth: [fit_deep(given, depth, one, steps, residual=skip) for one in seeds]
            for depth in depths
        }
        for skip in (False, given.skip)
    )
    gradients = estimate_ratio([fit.gradient for fit in plain[DEEP]])
    limit = SLACK * estimate_ratio([fit.loss for fit in residual[SHALLOW]]).mean
    return Verdict(
        findings=(
            at_least(
                f"training loss of plain networks, {DEEP} layers over {SHALLOW}",
                1,
                **deep_over_shallow(plain).as_measured(),
            ),
            at_most(
                f"training loss of residual networks, {DEEP} layers over {SHALLOW}",
                SLACK,
                **deep_over_shallow(residual).as_measured(),
            ),
            at_least(
                f"first gradient of an early layer over that of the last, {DEEP} plain layers",
                1,
                **gradients.as_measured(),
            ),
        ),
        chart=ClaimChart(
            x_label="hidden layers",
            y_label=f"training loss after {steps} steps",
            series=(
                predicted("1.1 times 4 residual layers", depths, [limit] * len(depths)),
                _dots("residual" if given.skip else "without skips", residual),
                _dots("plain", plain),
            ),
            explanation="A deep plain network could copy a shallow one, and does not find the way. "
            f"Gradients do not vanish: with {DEEP} plain layers that of an early one is "
            f"{gradients.mean:,.0f} times that of the last.",
            log="y",
        ),
    )


def deep_over_shallow(fits: dict[int, list[Fit]]) -> Estimate:
    """The ratio of training losses, over the tries."""
    pairs = zip(fits[DEEP], fits[SHALLOW], strict=True)
    return estimate_ratio([deep.loss / shallow.loss for deep, shallow in pairs])


def _dots(name: str, fits: dict[int, list[Fit]]) -> Series:
    """Mean losses with their intervals, by depth."""
    found = [estimate_ratio([fit.loss for fit in tries]) for tries in fits.values()]
    return measured(name, fits, [one.mean for one in found], [one.interval for one in found])


DEGRADATION = Claim(
    card=Card(
        sentence="Of plain networks the deeper one has the higher training loss, of residual "
        "networks it has not.",
        formula=r"L_{\mathrm{plain}}(40) > L_{\mathrm{plain}}(4), \qquad"
        r" L_{\mathrm{res}}(40) \leq 1.1 \, L_{\mathrm{res}}(4)",
        symbols={"L(l)": "the training loss of a network of l hidden layers, after equal steps"},
        source="He, Zhang, Ren and Sun (2015), arXiv 1512.03385, section 1",
        misprint="Often explained by gradients that vanish. With batch normalisation they do not; "
        "in plain networks they even grow from the last layer to the first. And residual layers "
        "are no cure for all: after ten steps with 16 units, or at a rate of 0.01, 40 of them can "
        "be worse than 4.",
    ),
    topic="Images",
    kind="empirical",
    settings=DegradationConfig,
    experiment=measure_degradation,
)
