r"""Saddles: Newton's method runs into them, and in many dimensions they are all there is.

Newton's step x - H^{-1} grad h goes to the place where the local quadratic is flat, be it a minimum
or not: from anywhere on h = 1/2 x^T H x it lands on 0. Gradient descent multiplies the part along
an eigenvector by 1 - eta lambda, which grows where lambda is negative. Newton's method with |H|,
the eigenvalues without their signs, leaves as well.

A critical point is a minimum if all eigenvalues of its Hessian are positive. Were their signs
independent coins, that would have the chance 2^{-N}. But eigenvalues of a random symmetric matrix
repel each other, and it is far less: 1/2, (2 - sqrt 2) / 4, 1/4 - sqrt 2 / (2 pi) for N = 1, 2, 3.

Shapes: P places, D or N coordinates.
Source: Dauphin et al., "Identifying and Attacking the Saddle Point Problem" (2014); Dean and
Majumdar, "Large Deviations of Extreme Eigenvalues of Random Matrices" (2006).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.optimizers.newton import newton_direction
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.verdict import (
    ClaimFinding,
    Verdict,
    at_least,
    at_most,
    equals,
    estimate_share,
)

SADDLES = {"quick": 100, "full": 1000}
HESSIANS = {"quick": 20_000, "full": 1_000_000}
DIMENSIONS = (1, 2, 3, 4, 5)
# The share of random symmetric matrices whose eigenvalues are all positive, where it is known.
POSITIVE_SHARES = {1: 1 / 2, 2: (2 - math.sqrt(2)) / 4, 3: 1 / 4 - math.sqrt(2) / (2 * math.pi)}


@dataclass(frozen=True, kw_only=True)
class NewtonSaddleConfig(Config):
    """The saddles, and how Newton's method treats them."""

    dimensions: Annotated[
        int, Interval(ge=2, le=50), Doc("D, coordinates; half of them curve down")
    ] = 6
    saddle: Annotated[
        bool, Assumption("some curvatures are negative; without it, the place is a minimum")
    ] = True
    signed: Annotated[
        bool, Assumption("the Hessian keeps the signs of its eigenvalues; without it, |H|")
    ] = True


@dataclass(frozen=True, kw_only=True)
class SaddlesOutnumberConfig(Config):
    """How the Hessians are drawn."""

    centred: Annotated[
        bool, Assumption("up is as likely as down; without it, the Hessians are lifted by 2N")
    ] = True


def newton_step(loss: Callable[[Tensor], Tensor], place: Tensor, *, signed: bool = True) -> Tensor:
    """Where the quadratic around the place is flat, (D) -> (D); unsigned, away from saddles."""
    gradient = torch.func.grad(loss)
    hessian = torch.func.jacrev(gradient)(place)
    if not signed:
        curvatures, directions = torch.linalg.eigh(hessian)
        hessian = directions @ (curvatures.abs()[:, None] * directions.mT)
    return place + newton_direction(hessian, gradient(place))


def random_hessians(count: int, curvatures: Tensor, rng: torch.Generator) -> Tensor:
    """Symmetric matrices with these eigenvalues in random directions, (P, D, D)."""
    shape = (count, len(curvatures), len(curvatures))
    turned = torch.linalg.qr(torch.randn(*shape, generator=rng, dtype=torch.float64)).Q
    return turned @ (curvatures[:, None] * turned.mT)  # type: ignore[no-any-return]


def measure_newton_saddle(given: NewtonSaddleConfig, seed: int, effort: Effort) -> Verdict:
    """Random saddles: one step of Newton's method, and two hundred of gradient descent."""
    rng, count = generator(seed, "newton-saddle"), SADDLES[effort]
    curvatures = torch.linspace(0.5, 2, given.dimensions, dtype=torch.float64)
    if given.saddle:
        curvatures[::2] *= -1
    hessians = random_hessians(count, curvatures, rng)
    starts = torch.randn(count, given.dimensions, generator=rng, dtype=torch.float64)

    def newton(hessian: Tensor, start: Tensor) -> Tensor:
        return newton_step(lambda x: x @ hessian @ x / 2, start, signed=given.signed)

    jumped = torch.func.vmap(newton)(hessians, starts)
    path = optimizer_path(
        "sgd", lambda x: (hessians @ x[..., None])[..., 0], starts, lr=0.1, steps=200
    )
    left = path[-1].norm(dim=-1) / starts.norm(dim=-1)
    return Verdict(
        findings=(
            at_most(
                "distance from where it is flat after one step of Newton's, the largest",
                1e-10,
                float(jumped.norm(dim=-1).max()),
                n=count,
            ),
            at_least(
                "distance after gradient descent over that before, the smallest",
                1,
                float(left.min()),
                n=count,
            ),
        ),
        chart=_one_saddle(given),
    )


def _one_saddle(given: NewtonSaddleConfig) -> ClaimChart:
    """The chart of x^2 - y^2 (or x^2 + y^2) from (1, 0.1)."""
    sign, rate, steps = -1.0 if given.saddle else 1.0, 0.1, 20

    def loss(x: Tensor) -> Tensor:
        return x[0].square() + sign * x[1].square()

    start = torch.tensor([1.0, 0.1], dtype=torch.float64)
    path = optimizer_path("sgd", torch.func.grad(loss), start, lr=rate, steps=steps)
    newton = [start]
    for _ in range(steps):
        newton.append(newton_step(loss, newton[-1], signed=given.signed))
    times = range(steps + 1)
    closed = [math.hypot((1 - 2 * rate) ** k, 0.1 * (1 - 2 * sign * rate) ** k) for k in times]
    return ClaimChart(
        x_label="steps",
        y_label="distance from the saddle" if given.saddle else "distance from the minimum",
        series=(
            predicted("gradient descent, closed form", times, closed),
            measured("gradient descent", times, path.norm(dim=-1).tolist()),
            measured("Newton's method", times, [float(place.norm()) for place in newton]),
        ),
        explanation=_saddle_told(given),
    )


def _saddle_told(given: NewtonSaddleConfig) -> str:
    if not given.saddle:
        return (
            "x² + y² from (1, 0.1): Newton's method lands on the minimum in one step, and gradient "
            "descent goes there too."
        )
    if not given.signed:
        return "x² - y² from (1, 0.1): with |H| Newton's method leaves along y, as descent does."
    return (
        "x² - y² from (1, 0.1): Newton's method lands on the saddle in one step and stays; "
        "gradient descent comes close, and then leaves along y."
    )


def measure_saddles_outnumber(given: SaddlesOutnumberConfig, seed: int, effort: Effort) -> Verdict:
    """Random symmetric Hessians of 1 to 5 dimensions: how many are those of minima."""
    n = HESSIANS[effort]
    shares = {}
    for size in DIMENSIONS:
        rng = generator(seed, "saddles-outnumber-minima", size)
        drawn = torch.randn(n, size, size, generator=rng)
        hessians = (drawn + drawn.mT) / 2
        if not given.centred:
            hessians += 2 * size * torch.eye(size)
        minima = torch.linalg.cholesky_ex(hessians).info == 0
        shares[size] = estimate_share(int(minima.sum()), n)
    findings: list[ClaimFinding] = []
    places = range(len(DIMENSIONS))
    for size, share in shares.items():
        what = f"share of minima for N = {size}"
        if size in POSITIVE_SHARES:
            exact = POSITIVE_SHARES[size]
            within = 4 * math.sqrt(exact * (1 - exact) / n)
            findings.append(
                equals(what, exact, share.mean, within=within, n=n, interval=share.interval)
            )
        if size > 1:
            findings.append(at_most(what, 2.0**-size, share.mean, n=n, interval=share.interval))
    return Verdict(
        findings=tuple(findings),
        chart=ClaimChart(
            x_label="dimensions N",
            y_label="share of critical points that are minima",
            series=(
                predicted("independent signs, 2⁻ᴺ", places, [2.0**-size for size in DIMENSIONS]),
                measured(
                    "random symmetric Hessians",
                    places,
                    [share.mean for share in shares.values()],
                    [share.interval for share in shares.values()],
                ),
            ),
            explanation="A minimum must curve up in every direction. Its share falls faster than "
            "tossing a coin for each, because eigenvalues repel each other."
            if given.centred
            else "Hessians that are lifted curve up more often than down: most are minima.",
            log="y",
            categories=tuple(str(size) for size in DIMENSIONS),
        ),
    )


NEWTON_SADDLE = Claim(
    card=Card(
        sentence="Newton's method jumps to the saddle that gradient descent leaves.",
        formula=r"x - H^{-1} \nabla h(x) = 0 \quad \text{for}\quad h(x) = \frac{1}{2} x^\top H x",
        symbols={"x": "the place, (D)", "H": "the Hessian at the saddle, (D, D)"},
        source="Dauphin et al. (2014), arXiv 1406.2572",
    ),
    topic="Gradient descent",
    kind="theorem",
    settings=NewtonSaddleConfig,
    experiment=measure_newton_saddle,
)
SADDLES_OUTNUMBER = Claim(
    card=Card(
        sentence="In many dimensions saddles vastly outnumber minima: fewer than one in 2^N "
        "random critical points is a minimum.",
        formula=r"P(H \succ 0) \leq 2^{-N}, \quad H = \frac{1}{2} (A + A^\top)",
        symbols={
            "A": "independent standard normal numbers, (N, N)",
            "H": "the Hessian of a random critical point, (N, N)",
        },
        source="Dauphin et al. (2014), arXiv 1406.2572; Dean and Majumdar (2006), Physical Review "
        "Letters 97, 160201",
    ),
    topic="Gradient descent",
    kind="empirical",
    settings=SaddlesOutnumberConfig,
    experiment=measure_saddles_outnumber,
)
