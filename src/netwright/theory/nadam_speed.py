r"""NAdam and Adam: who needs fewer steps to the minimum, each at its best rate.

NAdam is Adam with Nesterov's look-ahead, which damps the swings about a minimum: it often touches
the minimum first. But looking ahead also narrows the range of curvatures on which steps are stable:
with the rate eta and the momentum b, in units of the root of the mean of squared gradients,

    Adam    curvature < 2 (1 + b) / (eta (1 - b)) = 38 / eta
    NAdam   curvature < 2 (1 + b) / (eta (1 - b) (1 + 2 b)) = 13.6 / eta      for b = 0.9.

Near a minimum the gradients fade, their mean of squares follows, and the curvature in these units
rises until steps are unstable again. NAdam is thrown out sooner, so that it takes longer to stay.

Shapes: G rates, R starts, D coordinates, T steps.
Source: Dozat, "Incorporating Nesterov Momentum into Adam" (2016); Cohen et al., "Adaptive Gradient
Methods at the Edge of Stability" (2022).
"""

import math
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
from netwright.inspection.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Claim, Effort
from netwright.theory.optimizer_path import optimizer_path
from netwright.theory.surfaces import BEALE, RAVINE, ROSENBROCK, Surface
from netwright.theory.verdict import Verdict, at_least, at_most, estimate

STARTS = {"quick": 6, "full": 12}
STEPS = {"quick": 300, "full": 3000}
RATES = 2.0 ** torch.arange(-7, 1, dtype=torch.float64)[:, None, None]
EXAMPLES, FEATURES, RIDGE = 50, 5, 0.01


@dataclass(frozen=True, kw_only=True)
class NadamSpeedConfig(Config):
    """When a run has converged."""

    tolerance: Annotated[
        float, Interval(ge=1e-9, le=1e-3), Doc("how far above the least loss is close enough")
    ] = 1e-6


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
    name: str, problem: Problem, start: Tensor, tolerance: float, steps: int
) -> Tensor:
    """Steps until the loss is close and stays so, at the rate that is best for all starts, (R).

    A step is proportional to the rate, so places in units of the rate move as with the rate 1, and
    one path has all rates side by side. A run that is not close in the end counts all its steps.
    """
    origin = torch.zeros(len(RATES), *start.shape, dtype=torch.float64)
    path = optimizer_path(
        name, lambda moved: problem.gradient(start + RATES * moved), origin, lr=1.0, steps=steps
    )
    gaps = problem.value(start + RATES * path) - problem.value(problem.best)  # (T + 1, G, R)
    is_far = ~(gaps < tolerance)  # so is a gap that is not a number
    needed = is_far.flip(0).cummax(0).values.sum(0).clamp(max=steps).double()  # (G, R)
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
    adam, nadam, ratios = [], [], []
    for problem in problems.values():
        away = torch.randn(STARTS[effort], len(problem.best), generator=rng, dtype=torch.float64)
        start = problem.best + problem.spread * away
        ours, theirs = (
            steps_needed(name, problem, start, given.tolerance, steps) for name in ("nadam", "adam")
        )
        nadam.append(estimate(ours.tolist()))
        adam.append(float(theirs.mean()))
        ratios.append(nadam[-1].mean / adam[-1])
    places = range(len(problems))
    return Verdict(
        findings=(
            at_least(
                "problems on which NAdam needs fewer steps than Adam, most",
                len(problems) // 2 + 1,
                sum(ratio < 1 for ratio in ratios),
                n=len(problems),
            ),
            at_most(
                "steps of NAdam over those of Adam, geometric mean of the problems",
                1,
                math.prod(ratios) ** (1 / len(ratios)),
                n=len(ratios) * STARTS[effort],
            ),
        ),
        chart=ClaimChart(
            x_label="",
            y_label=f"steps until the gap stays below {given.tolerance:g}",
            series=(
                predicted("Adam: NAdam should be below", places, adam),
                measured("NAdam", places, [e.mean for e in nadam], [e.interval for e in nadam]),
            ),
            explanation=f"Means over {STARTS[effort]} starts, each optimizer at its best rate; a "
            f"run has {steps:,} steps. Near a minimum NAdam's steps become unstable sooner than "
            "Adam's: it is thrown out again, and takes longer to stay.",
            categories=tuple(problems),
        ),
    )


NADAM_SPEED = Claim(
    card=Card(
        sentence="NAdam converges faster than Adam.",
        formula=r"w \leftarrow w - \frac{\eta}{\sqrt{\hat v} + \epsilon}"
        r" \left( \beta_1 \hat m + \frac{(1-\beta_1)\, g}{1 - \beta_1^t} \right)",
        symbols={
            r"\hat m, \hat v": "running means of g and g^2, corrected for starting at 0",
            "g": "the gradient at w",
            r"\eta": "the learning rate",
            r"\beta_1": "how long the mean of gradients remembers, 0.9",
        },
        source="Dozat (2016), ICLR workshop",
        misprint="Often said of NAdam in general. It often touches the minimum first, but its "
        "look-ahead is stable for shorter steps only, and it takes longer to stay there.",
    ),
    topic="Optimizers",
    kind="false",
    settings=NadamSpeedConfig,
    experiment=measure_nadam_speed,
)
