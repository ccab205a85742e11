r"""Convexity: a function that lies below its chords, and what follows.

    chord     f(a x + (1 - a) y) <= a f(x) + (1 - a) f(y),    0 <= a <= 1
    Jensen    f(sum_i a_i x_i) <= sum_i a_i f(x_i),           a_i >= 0, sum_i a_i = 1
    minima    every local minimum is global: on the chord to a lower place f would fall at once

Shapes: M cases, K points, D coordinates.
Source: Jensen, "Sur les fonctions convexes et les inegalites entre les valeurs moyennes" (1906);
Boyd and Vandenberghe, "Convex Optimization" (2004), chapters 2 to 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import softplus

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import Verdict, at_most, no_violations

CASES = {"quick": 1000, "full": 100_000}
STARTS = {"quick": 50, "full": 500}
ROUNDING = 1e-12
EXAMPLES, WEIGHTS = 40, 3


@dataclass(frozen=True, kw_only=True)
class JensenConfig(Config):
    """The points, their weights and the function."""

    points: Annotated[int, Interval(ge=2, le=100), Doc("K, points that are averaged")] = 5
    convex: Annotated[bool, Assumption("the function is convex: exp; without it, the sine")] = True
    weights_sum_to_one: Annotated[bool, Assumption("the weights sum to 1; without it, to 2")] = True


@dataclass(frozen=True, kw_only=True)
class LocalIsGlobalConfig(Config):
    """The loss that is descended."""

    steps: Annotated[int, Interval(ge=300, le=10_000), Doc("of descent with momentum")] = 400
    convex: Annotated[bool, Assumption("the loss is convex; without it, waves lie on it")] = True


def chord_violations(
    function: Callable[[Tensor], Tensor], x: Tensor, y: Tensor, share: Tensor
) -> int:
    """How many places between x and y (M, D) lie above the chord; shares (M)."""
    between = function(share[:, None] * x + (1 - share[:, None]) * y)
    chord = share * function(x) + (1 - share) * function(y)
    return int((between > chord + ROUNDING * chord.abs().clamp(min=1)).sum())


def measure_jensen(given: JensenConfig, seed: int, effort: Effort) -> Verdict:
    """Random points with random weights: the function of the mean, and the mean of the function."""
    rng, count = generator(seed, "jensen"), CASES[effort]
    points = 2 * torch.randn(count, given.points, generator=rng, dtype=torch.float64)
    weights = torch.rand(count, given.points, generator=rng, dtype=torch.float64)
    weights = weights / weights.sum(1, keepdim=True) * (1 if given.weights_sum_to_one else 2)
    function = torch.exp if given.convex else torch.sin
    of_mean = function((weights * points).sum(1))
    mean = (weights * function(points)).sum(1)
    shown = slice(0, 50)
    return Verdict(
        findings=(
            no_violations(
                "cases where the function of the mean is above the mean of the function",
                int((of_mean > mean + ROUNDING * mean.abs().clamp(min=1)).sum()),
                n=count,
            ),
        ),
        chart=ClaimChart(
            x_label="mean of the function, Σ aᵢ f(xᵢ)",
            y_label="function of the mean, f(Σ aᵢ xᵢ)",
            series=(
                predicted("equal", *2 * [sorted(mean[shown].tolist())]),
                measured("exp" if given.convex else "sin", mean[shown], of_mean[shown]),
            ),
            explanation="No dot lies above the line: a convex function of a mean is at most the "
            "mean of the function."
            if given.convex and given.weights_sum_to_one
            else "With an assumption off, dots lie above the line.",
            log="xy" if given.convex else "",
        ),
    )


def logistic_bowl(
    inputs: Tensor, labels: Tensor, *, waves: bool
) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
    """A penalized logistic loss of weights (P, D) and its gradient; with waves it is not convex.

    Args:
        inputs: (N, D).
        labels: (N,), 0 or 1.
        waves: add some.
    """

    def loss(weights: Tensor) -> Tensor:
        logits = weights @ inputs.T
        bowl = (softplus(logits) - labels * logits).mean(-1) + 0.05 * weights.square().sum(-1)
        return bowl + (1 - (4 * weights).cos()).sum(-1) / 6 if waves else bowl

    def gradient(weights: Tensor) -> Tensor:
        slope = ((weights @ inputs.T).sigmoid() - labels) @ inputs / len(inputs) + 0.1 * weights
        return slope + (4 * weights).sin() * 4 / 6 if waves else slope

    return loss, gradient


def measure_local_is_global(given: LocalIsGlobalConfig, seed: int, effort: Effort) -> Verdict:
    """Gradient descent on a logistic loss from many random starts: where it ends."""
    rng, count = generator(seed, "convex-local-global"), STARTS[effort]
    inputs = torch.randn(EXAMPLES, WEIGHTS, generator=rng, dtype=torch.float64)
    labels = torch.bernoulli(inputs.sum(1).sigmoid(), generator=rng)

    loss, gradient = logistic_bowl(inputs, labels, waves=not given.convex)
    start = 3 * torch.randn(count, WEIGHTS, generator=rng, dtype=torch.float64)
    path = optimizer_path("momentum", gradient, start, lr=0.3, steps=given.steps)
    ends = loss(path[-1]).sort().values
    return Verdict(
        findings=(
            at_most(
                "highest end above the lowest",
                1e-6,
                float(ends[-1] - ends[0]),
                n=count,
            ),
            at_most(
                "gradient at the ends, the largest",
                1e-6,
                float(gradient(path[-1]).norm(dim=-1).max()),
                n=count,
            ),
        ),
        chart=ClaimChart(
            x_label="starts, the lowest end first",
            y_label="loss where descent ends",
            series=(
                predicted("the lowest", range(1, count + 1), [float(ends[0])] * count),
                measured("gradient descent", range(1, count + 1), ends.tolist()),
            ),
            explanation="All starts end at one height: the loss is convex, and has no other "
            "minimum."
            if given.convex
            else "Waves on the bowl are minima of their own: where descent ends depends on where "
            "it starts.",
        ),
    )


JENSEN = Claim(
    card=Card(
        sentence="A convex function of a mean is at most the mean of the function.",
        formula=r"f\left(\sum_i a_i x_i\right) \leq \sum_i a_i f(x_i),"
        r" \quad a_i \geq 0, \; \sum_i a_i = 1",
        symbols={"f": "a convex function", "a_i": "weights", "x_i": "points"},
        source="Jensen (1906), Acta Mathematica 30, 175-193",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=JensenConfig,
    experiment=measure_jensen,
)
LOCAL_IS_GLOBAL = Claim(
    card=Card(
        sentence="Every local minimum of a convex loss is global: descent ends at one height from "
        "any start.",
        formula=r"h(\alpha x + (1-\alpha) y) \leq \alpha h(x) + (1-\alpha) h(y)"
        r" \;\Rightarrow\; h(x^*) = \min_x h(x)",
        symbols={"h": "the loss", "x^*": "any local minimum"},
        source="Boyd and Vandenberghe (2004), Convex Optimization, section 4.2.2",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=LocalIsGlobalConfig,
    experiment=measure_local_is_global,
)
