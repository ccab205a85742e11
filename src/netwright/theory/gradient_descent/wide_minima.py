"""Wide minima: noise throws a descent out of a sharp well more often than out of a wide one.

The share of runs in the wide well is also that of a Markov chain whose moves have the density of
the noise, worked out on a fine grid.

Shapes: n runs, T steps.
Source: Hochreiter and Schmidhuber, "Flat Minima" (1997).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, equals, estimate_share

WALKERS = {"quick": 500, "full": 5000}
RATE, NOISE = 0.05, 4.0  # step and spread of the gradient


@dataclass(frozen=True, kw_only=True)
class WideMinimaConfig(Config):
    """Two wells, and the noise of the gradient."""

    sharpness: Annotated[
        float,
        Interval(ge=25, lt=2 / RATE),  # from there on exact descent leaves the well as well
        Doc("curvature of the sharp well; the wide one has 1"),
    ] = 25.0
    steps: Annotated[
        int, Interval(ge=3000, le=20_000), Doc("T, steps, all from the sharp well")
    ] = 3000
    noise: Annotated[bool, Assumption("the gradient is noisy, with a spread of 4")] = True
    one_well_wider: Annotated[
        bool, Assumption("the wells differ in width; without it, both have the curvature 1")
    ] = True


def wells(x: Tensor, sharpness: float) -> tuple[Tensor, Tensor]:
    """The slope of min((x + 2)^2, sharpness (x - 2)^2) / 2, and whether x is in the wide well."""
    wide = (x + 2).square() < sharpness * (x - 2).square()
    return torch.where(wide, x + 2, sharpness * (x - 2)), wide


def expected_shares(sharpness: float, steps: int) -> list[float]:
    """The chance to be in the wide well before each step and after the last, by a Markov chain."""
    ridge = 2 * (sharpness**0.5 - 1) / (sharpness**0.5 + 1)  # between the wells: an edge of a cell
    edges = ridge + 0.04 * torch.arange(-220, 141, dtype=torch.float64)
    slope, wide = wells(grid := edges[1:] - 0.02, sharpness)
    away = (edges - (grid - RATE * slope)[:, None]) / (RATE * NOISE)
    moves = torch.special.ndtr(away).diff()  # from row to column
    chance = ((grid - 2).abs() < 0.5).double()
    chance, shares = chance / chance.sum(), [0.0]
    for _ in range(steps):
        chance = chance @ moves
        shares.append(float(chance @ wide.double()))
    return shares


def measure_wide_minima(given: WideMinimaConfig, seed: int, effort: Effort) -> Verdict:
    """From the sharp of two wells, with noise and without: who ends in the wide one."""
    rng, n = generator(seed, "wide-minima"), WALKERS[effort]
    sharpness = given.sharpness if given.one_well_wider else 1.0
    x = (1.5 + torch.rand(n, generator=rng, dtype=torch.float64)).expand(2, n)
    spread = torch.tensor([[NOISE if given.noise else 0.0], [0.0]])  # with noise, and without
    chain, counts = expected_shares(sharpness, given.steps), []
    for _ in range(given.steps + 1):
        slope, wide = wells(x, sharpness)
        counts.append(wide.sum(-1).tolist())
        x = x - RATE * (slope + spread * torch.randn(n, generator=rng, dtype=torch.float64))
    within = 4 * math.sqrt(chain[-1] * (1 - chain[-1]) / n)
    shown = range(given.steps, -1, -math.ceil(given.steps / 15))
    shares = [estimate_share(counts[k][0], n) for k in shown]
    means, intervals, last = [e.mean for e in shares], [e.interval for e in shares], shares[0]
    return Verdict(
        findings=(
            at_least("share in the wide well", 0.7, last.mean, n=n, interval=last.interval),
            equals("share beside the Markov chain", chain[-1], last.mean, within=within, n=n),
            at_most("runs without noise that leave the sharp well", 0, counts[-1][1], n=n),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="share of runs in the wide well",
            series=(
                predicted("Markov chain", range(given.steps + 1), chain),
                measured("noisy descent", shown, means, intervals),
            ),
            explanation=_told(given),
        ),
    )


def _told(given: WideMinimaConfig) -> str:
    if not given.noise:
        return "All start in the sharp well. Without noise none leaves it."
    if not given.one_well_wider:
        return "Noise throws runs out of equal wells equally often: they tend to half and half."
    return (
        "All start in the sharp well. Noise throws them out of it more often than out of the wide "
        "one, so most end there; without noise none moves."
    )


WIDE_MINIMA = Claim(
    card=Card(
        sentence="Noisy gradients leave sharp minima for wide ones; exact gradients stay.",
        formula=r"h(x) = \frac{1}{2}\min\left((x+2)^2,\; 25\,(x-2)^2\right)",
        symbols={"h": "a loss with a wide well at -2 and a sharp one at 2"},
        source="Hochreiter and Schmidhuber (1997), Neural Computation 9(1), 1-42",
    ),
    topic="Gradient descent",
    kind="empirical",
    settings=WideMinimaConfig,
    experiment=measure_wide_minima,
)
