r"""NAdam and Adam: who comes to the minimum in fewer steps, each at its best rate.

NAdam is Adam with Nesterov's look-ahead: a step uses the mean of gradients that the next step would
have used, which sees the newest gradient at once. Counted are the steps until the loss first comes
close to the least one. Both have the same constant momentum: a NAdam whose momentum starts at half
of its value, as torch's does, takes its first steps with another method than it is compared for.

Shapes: G rates, R starts, D coordinates, T steps.
Source: Dozat, "Incorporating Nesterov Momentum into Adam" (2016).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

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
from netwright.theory.optimizers.surfaces import BEALE, RAVINE, ROSENBROCK, Surface
from netwright.theory.verdict import Verdict, at_least, at_most, estimate

STARTS = {"quick": 16, "full": 20}
STEPS = {"quick": 300, "full": 3000}
RATES = 2.0 ** torch.arange(-7, 1, dtype=torch.float64)[:, None, None]
EXAMPLES, FEATURES, RIDGE = 50, 5, 0.01
FEWER = 0.8  # of Adam's steps: clearly fewer
CONSTANT: dict[str, Any] = {
    "momentum_decay": 1e6
}  # the momentum's rise is over before the first step


@dataclass(frozen=True, kw_only=True)
class NadamSpeedConfig(Config):
    """When a run is close, and the momentum of NAdam."""

    tolerance: Annotated[
        float, Interval(ge=1e-9, le=1e-3), Doc("how far above the least loss is close enough")
    ] = 1e-6
    constant_momentum: Annotated[
        bool,
        Assumption(
            "the momentum is constant; without it, it rises from 0.45, as torch's default lets it"
        ),
    ] = True


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A loss of places (..., D) with one minimum at `best`; starts lie `spread` from it."""

    value: Callable[[Tensor], Tensor]
    gradient: Callable[[Tensor], Tensor]
    best: Tensor
    spread: float = 1.0


def of_surface(surface: Surface, spread: float) -> Problem:
    """A surface as a problem."""
    best = torch.tensor(surface.minima[0], dtype=torch.float64)
    return Problem(value=surface.value, gradient=surface.gradient, best=best, spread=spread)


def slanted(rng: torch.Generator, dimensions: int = 10) -> Problem:
    """A quadratic with curvatures from 1 to 100 whose axes are not the coordinates."""
    turned = torch.linalg.qr(
        torch.randn(dimensions, dimensions, generator=rng, dtype=torch.float64)
    ).Q
    curvatures = torch.logspace(0, 2, dimensions, dtype=torch.float64)
    hessian = turned * curvatures @ turned.mT
    return Problem(
        value=lambda x: (x @ hessian * x).sum(-1) / 2,
        gradient=lambda x: x @ hessian,
        best=torch.zeros(dimensions, dtype=torch.float64),
    )


def logistic(rng: torch.Generator) -> Problem:
    """Logistic regression with a small L2 penalty; Newton's method finds its minimum."""
    inputs = torch.randn(EXAMPLES, FEATURES, generator=rng, dtype=torch.float64)
    labels = torch.bernoulli((2 * inputs.sum(-1)).sigmoid(), generator=rng)

    def value(weights: Tensor) -> Tensor:
        logits = weights @ inputs.mT
        loss = (softplus(logits) - labels * logits).mean(-1)
        return loss + RIDGE * weights.square().sum(-1) / 2

    def gradient(weights: Tensor) -> Tensor:
        residuals = (weights @ inputs.mT).sigmoid() - labels
        return residuals @ inputs / EXAMPLES + RIDGE * weights

    best = torch.zeros(FEATURES, dtype=torch.float64)
    for _ in range(30):
        hessian = torch.func.jacrev(gradient)(best)
        best = best - torch.linalg.solve(hessian, gradient(best))
    return Problem(value=value, gradient=gradient, best=best)


def steps_needed(
    name: str, problem: Problem, start: Tensor, tolerance: float, steps: int, **options: Any
) -> Tensor:
    """Steps until the loss is first close, at the rate that is best for all starts, (R).

    A step is proportional to the rate, so places in units of the rate move as with the rate 1, and
    one path has all rates side by side. A run that never is close counts all its steps.
    """
    origin = torch.zeros(len(RATES), *start.shape, dtype=torch.float64)
    path = optimizer_path(
        name,
        lambda moved: problem.gradient(start + RATES * moved),
        origin,
        lr=1.0,
        steps=steps,
        **options,
    )
    gaps = problem.value(start + RATES * path) - problem.value(problem.best)  # (T + 1, G, R)
    is_far = ~(gaps < tolerance)  # so is a gap that is not a number
    needed = is_far.cummin(0).values.sum(0).clamp(max=steps).double()  # (G, R)
    return needed[needed.mean(1).argmin()]


def measure_nadam_speed(given: NadamSpeedConfig, seed: int, effort: Effort) -> Verdict:
    """Both optimizers from the same random starts on each of five problems."""
    rng, steps = generator(seed, "nadam-speed"), STEPS[effort]
    problems = {
        "ravine": of_surface(RAVINE, 1.0),
        "logistic\nregression": logistic(rng),
        "slanted\nravine": slanted(rng),
        "Rosenbrock": of_surface(ROSENBROCK, 0.5),
        "Beale": of_surface(BEALE, 0.5),
    }
    options = CONSTANT if given.constant_momentum else {}
    adam, nadam = [], []
    for problem in problems.values():
        away = torch.randn(STARTS[effort], len(problem.best), generator=rng, dtype=torch.float64)
        race = partial(
            steps_needed,
            problem=problem,
            start=problem.best + problem.spread * away,
            tolerance=given.tolerance,
            steps=steps,
        )
        nadam.append(estimate(race("nadam", **options).tolist()))
        adam.append(estimate(race("adam").tolist()))
    # Where neither ever comes close nothing is learned about who is faster.
    ratios = [
        ours.mean / theirs.mean
        for ours, theirs in zip(nadam, adam, strict=True)
        if min(ours.mean, theirs.mean) < steps
    ]
    places = range(len(problems))
    return Verdict(
        findings=(
            at_least(
                "problems on which NAdam needs fewer steps than Adam, most of those that end",
                len(ratios) // 2 + 1,
                sum(ratio < 1 for ratio in ratios),
                n=len(ratios),
            ),
            at_most(
                "steps of NAdam over those of Adam, geometric mean of the problems",
                FEWER,
                math.prod(ratios) ** (1 / len(ratios)),
                n=len(ratios),
            ),
        ),
        chart=ClaimChart(
            x_label="",
            y_label=f"steps until the gap is below {given.tolerance:g}",
            series=(
                predicted("Adam: NAdam should be below", places, [e.mean for e in adam]),
                measured("NAdam", places, [e.mean for e in nadam], [e.interval for e in nadam]),
            ),
            explanation=f"Means over {STARTS[effort]} starts, each optimizer at its best rate; a "
            f"run has {steps:,} steps, which is where those stand that are not close by then. "
            + (
                "With equal, constant momentum NAdam is there first on most problems."
                if given.constant_momentum
                else "With a momentum that rises from 0.45 NAdam first has to gather speed."
            ),
            categories=tuple(problems),
        ),
    )


NADAM_SPEED = Claim(
    card=Card(
        sentence="NAdam comes within 1e-6 of the minimum in fewer steps than Adam on most of five "
        "problems, each at its best rate.",
        formula=r"w \leftarrow w - \frac{\eta}{\sqrt{\hat v} + \epsilon}"
        r" \left( \frac{\mu\, m}{1 - \mu^{t+1}} + \frac{(1-\mu)\, g}{1 - \mu^t} \right)",
        symbols={
            "m": "a running mean of g, from 0, as Adam's",
            r"\hat v": "a running mean of g^2, corrected for starting at 0",
            "g": "the gradient at w",
            r"\eta": "the learning rate",
            r"\mu": "the momentum, 0.9 at every step",
            "t": "the step",
        },
        source="Dozat (2016), ICLR workshop",
        misprint="It is counted when a run first comes so close, not whether it stays; and it is "
        "said of a constant momentum. Shown on problems of 2 to 10 variables without noise.",
    ),
    topic="Optimizers",
    kind="empirical",
    settings=NadamSpeedConfig,
    experiment=measure_nadam_speed,
)
