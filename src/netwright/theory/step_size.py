r"""Gradient descent and its step: above 2 / L it runs away.

On f(x) = 1/2 sum_i lambda_i x_i^2 the step x <- x - eta lambda x multiplies coordinate i by
1 - eta lambda_i, so that after k steps

    f(x_k) = 1/2 sum_i lambda_i (1 - eta lambda_i)^{2k} x_{0,i}^2.

With L the largest lambda, it falls to 0 if eta L < 2, and grows without bound if eta L > 2.

Shapes: D coordinates.
Source: Polyak, "Introduction to Optimization" (1987), chapter 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.inspection.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

GRID = {"quick": 29, "full": 299}  # products eta L between 0 and 3


@dataclass(frozen=True, kw_only=True)
class StepSizeConfig(Config):
    """The quadratic, and how often to step."""

    curvature: Annotated[Positive, Doc("L, the largest curvature; the smallest is 1")] = 100.0
    steps: Annotated[Size, Doc("k, steps of gradient descent")] = 300
    quadratic: Annotated[
        bool, Assumption("the function is a quadratic: its curvature is the same everywhere")
    ] = True


def descend(gradient: Callable[[Tensor], Tensor], start: Tensor, rate: float, steps: int) -> Tensor:
    """The place after so many steps of gradient descent."""
    x = start
    for _ in range(steps):
        x = x - rate * gradient(x)
    return x


def measure_step_size(given: StepSizeConfig, seed: int, effort: Effort) -> Verdict:
    """Descend with products eta L from 0.1 to 2.9 and compare the last loss with the first."""
    curvatures = torch.tensor([1.0, given.curvature], dtype=torch.float64)
    start = torch.ones(2, dtype=torch.float64)
    # Off: L log cosh x has the curvature L at 0 too, but it is nearly straight far away.
    slope = torch.clone if given.quadratic else torch.tanh

    def loss(x: Tensor) -> float:
        return float(curvatures @ (x.square() / 2 if given.quadratic else x.cosh().log()))

    products = [3 * (i + 1) / (GRID[effort] + 1) for i in range(GRID[effort])]
    products = [product for product in products if not math.isclose(product, 2.0)]
    last = [
        loss(
            descend(lambda x: curvatures * slope(x), start, product / given.curvature, given.steps)
        )
        for product in products
    ]
    first = loss(start)
    grows = [value > first for value in last]
    wrong = sum(grew != (product > 2) for grew, product in zip(grows, products, strict=True))
    factors = [1 - product / given.curvature * curvatures for product in products]
    formula = [float(curvatures @ factor.pow(2 * given.steps)) / 2 for factor in factors]
    pairs = list(zip(products, last, strict=True))
    return Verdict(
        findings=(
            no_violations("step sizes that grow below 2/L or fall above it", wrong, n=len(last)),
            at_most(
                "last loss over the first, the largest below 2/L",
                1,
                max(value for product, value in pairs if product < 2) / first,
                n=sum(product < 2 for product in products),
            ),
            at_least(
                "last loss over the first, the smallest above 2/L",
                1,
                min(value for product, value in pairs if product > 2) / first,
                n=sum(product > 2 for product in products),
            ),
        ),
        chart=ClaimChart(
            x_label="step size times curvature, ηL",
            y_label=f"loss after {given.steps} steps",
            series=(
                predicted("closed form for the quadratic", products, formula),
                measured("gradient descent", products, last),
            ),
            explanation="Left of 2 the loss falls, right of it each step overshoots by more than "
            "it corrects and the loss grows without bound.",
            log="y",
        ),
    )


STEP_SIZE = Claim(
    card=Card(
        sentence="Gradient descent runs away when its step is larger than 2/L, and not before.",
        formula=r"x_{k+1} = x_k - \eta \nabla f(x_k), \quad \eta > \frac{2}{L}"
        r" \;\Rightarrow\; f(x_k) \to \infty",
        symbols={
            r"\eta": "step size",
            "L": "largest curvature, the largest eigenvalue of the Hessian",
            "x_k": "the place after k steps, (D)",
        },
        source="Polyak (1987), Introduction to Optimization, chapter 1",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=StepSizeConfig,
    experiment=measure_step_size,
)
