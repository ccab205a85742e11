"""Steeper energies: a dense memory holds more patterns than it has units.

Shapes: n units, s patterns.
Source: Krotov and Hopfield, "Dense Associative Memory for Pattern Recognition" (2016); Demircigil
et al. (2017), Journal of Statistical Physics 168, 288-299.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.memory.dense_energy import dense_sweep
from netwright.theory.claims import Claim, Effort
from netwright.theory.memories.hopfield_capacity import FairBits, random_patterns
from netwright.theory.verdict import Estimate, Verdict, at_least, at_most, estimate_share

TRIES = {"quick": 3, "full": 10}
NOISE = 0.05  # share of flipped bits to recall from


@dataclass(frozen=True, kw_only=True)
class HigherOrderConfig(Config):
    """Twice as many patterns as units."""

    units: Annotated[int, Interval(ge=100, le=500), Doc("n, units; there are 2n patterns")] = 100
    fair_bits: FairBits = True


def recalled_share(
    given: HigherOrderConfig, power: int | None, tries: int, numbers: torch.Generator
) -> Estimate:
    """Flip some bits of each of 2n patterns, make one sweep, and count those that are back."""
    right = 0
    for _ in range(tries):
        patterns = random_patterns(2 * given.units, given.units, numbers, fair=given.fair_bits)
        flipped = torch.rand(patterns.shape, generator=numbers) < NOISE
        recalled = dense_sweep(torch.where(flipped, -patterns, patterns), patterns, power)
        right += int((recalled == patterns).all(dim=1).sum())
    return estimate_share(right, tries * 2 * given.units)


def measure_higher_order(given: HigherOrderConfig, seed: int, effort: Effort) -> Verdict:
    """Recall with the three energies, far above what the quadratic one can hold."""
    numbers = generator(seed, "hopfield higher order")
    shares = [recalled_share(given, power, TRIES[effort], numbers) for power in (2, 3, None)]
    square, cube, exponential = shares
    rules = (
        (at_most, "z²", 0.01, square),
        (at_least, "z³", 0.95, cube),
        (at_least, "exp z", 0.99, exponential),
    )
    names = tuple(f"F(z) = {name}" for _, name, _, _ in rules)
    return Verdict(
        findings=tuple(
            rule(
                f"share of {2 * given.units} patterns recalled from {NOISE:.0%} noise, {name}",
                wanted,
                share.mean,
                n=share.n,
                interval=share.interval,
            )
            for name, (rule, _, wanted, share) in zip(names, rules, strict=True)
        ),
        chart=ClaimChart(
            x_label=f"energy -Σ F(overlap), {given.units} units and {2 * given.units} patterns",
            y_label="share of patterns recalled",
            series=(
                predicted("what is claimed", range(3), [wanted for _, _, wanted, _ in rules]),
                measured(
                    "one sweep from 5 % noise",
                    range(3),
                    [share.mean for share in shares],
                    [share.interval for share in shares],
                ),
            ),
            explanation="Twice as many patterns as units are 14 times what the square can hold. "
            "A steeper F lets the nearest pattern outweigh the cross-talk of all others."
            if given.fair_bits
            else "Here three bits of four are +1: the patterns resemble each other, and the "
            "nearest one outweighs the many others only where F is very steep.",
            categories=names,
        ),
    )


HIGHER_ORDER = Claim(
    card=Card(
        sentence="An energy of higher order than the square lets a Hopfield network hold more"
        " patterns than it has units.",
        formula=r"E(x) = -\sum_t F(x_t^T x), \quad F(z) = z^k: s \sim n^{k-1}, \quad"
        r" F(z) = e^z: s \sim 2^{n/2}",
        symbols={"n": "units", "s": "patterns that can be stored", "x_t": "pattern t, (n)"},
        source="Krotov and Hopfield (2016), NeurIPS 29; Demircigil et al. (2017), Journal of"
        " Statistical Physics 168, 288-299",
    ),
    topic="Memories",
    kind="empirical",
    settings=HigherOrderConfig,
    experiment=measure_higher_order,
)
