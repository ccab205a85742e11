r"""Gradient descent and its step: above 2 / L it runs away.

On f(x) = 1/2 sum_i lambda_i x_i^2 the step x <- x - eta lambda x multiplies coordinate i by
1 - eta lambda_i, so that after k steps

    f(x_k) = 1/2 sum_i lambda_i (1 - eta lambda_i)^{2k} x_{0,i}^2.

With L the largest lambda, it falls to 0 if eta L < 2, and grows without bound if eta L > 2.

Shapes: G step sizes, D coordinates.
Source: Polyak, "Introduction to Optimization" (1987), chapter 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

OFF_THE_CHART = 1e100
GRID = {"quick": 29, "full": 299}  # products eta L between 0 and 3


@dataclass(frozen=True, kw_only=True)
class StepSizeConfig(Config):
    """The quadratic, and how often to step."""

    curvature: Annotated[float, Ge(1), Doc("L, the largest curvature; the smallest is 1")] = 100.0
    steps: Annotated[
        int, Interval(ge=50, le=100_000), Doc("k, steps of gradient descent, enough to tell")
    ] = 300
    quadratic: Annotated[
        bool, Assumption("the function is a quadratic: its curvature is the same everywhere")
    ] = True


def descend(
    gradient: Callable[[Tensor], Tensor], start: Tensor, rate: Tensor | float, steps: int
) -> Tensor:
    """The place after so many steps of gradient descent, for one rate or for a column of them."""
    x = start
    for _ in range(steps):
        x = x - rate * gradient(x)
    return x


def drawn(losses: Tensor) -> list[float]:
    """The losses, without an end where no axis reaches."""
    return losses.masked_fill(losses > OFF_THE_CHART, torch.inf).tolist()


def measure_step_size(given: StepSizeConfig, seed: int, effort: Effort) -> Verdict:
    """Descend with products eta L from 0.1 to 2.9 and compare the last loss with the first."""
    curvatures = torch.tensor([1.0, given.curvature], dtype=torch.float64)
    start = torch.ones(2, dtype=torch.float64)
    # Off: L log cosh x has the curvature L at 0 too, but it is nearly straight far away.
    slope = torch.clone if given.quadratic else torch.tanh

    def loss(x: Tensor) -> Tensor:
        return (x.square() / 2 if given.quadratic else x.cosh().log()) @ curvatures

    products = 3 * torch.arange(1, GRID[effort] + 1, dtype=torch.float64) / (GRID[effort] + 1)
    products = products[(products - 2).abs() > 1e-9]
    rates = products[:, None] / given.curvature  # (G, 1)
    places = descend(lambda x: curvatures * slope(x), start, rates, given.steps)  # (G, D)
    last = loss(places).nan_to_num(nan=torch.inf, posinf=torch.inf)  # nan is inf - inf: far away
    first, too_long = float(loss(start)), products > 2
    wrong = int(((last > first) != too_long).sum())
    formula = (1 - rates * curvatures).pow(2 * given.steps) @ curvatures / 2
    return Verdict(
        findings=(
            no_violations("step sizes that grow below 2/L or fall above it", wrong, n=len(last)),
            at_most(
                "last loss over the first, the largest below 2/L",
                1,
                float(last[~too_long].max()) / first,
                n=int((~too_long).sum()),
            ),
            at_least(
                "last loss over the first, the smallest above 2/L",
                1,
                float(last[too_long].min()) / first,
                n=int(too_long.sum()),
            ),
        ),
        chart=ClaimChart(
            x_label="step size times curvature, ηL",
            y_label=f"loss after {given.steps} steps",
            series=(
                predicted("closed form for the quadratic", products.tolist(), drawn(formula)),
                measured("gradient descent", products.tolist(), drawn(last)),
            ),
            explanation="Left of 2 the loss falls, right of it each step overshoots by more than "
            "it corrects and the loss grows without bound."
            if given.quadratic
            else "This loss is nearly straight far away: right of 2 the steps swing about the "
            "minimum, and do not run away as on the quadratic.",
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
