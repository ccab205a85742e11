r"""How much a Hopfield network holds: bits that are lost, the collapse, patterns without a fault.

A bit of a stored pattern is lost where the cross-talk of the other s - 1 patterns, a sum of many
signs with variance s/n, outweighs it:

    P = P(C < -1) = (1 - erf(sqrt(n / 2s))) / 2

Shapes: n units, s patterns.
Source: Amit, Gutfreund and Sompolinsky (1985), Physical Review Letters 55, 1530-1533; McEliece et
al. (1987), IEEE Transactions on Information Theory 33, 461-482.
"""

import math
from dataclasses import dataclass
from statistics import stdev
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.memory.hopfield_dynamics import (
    asynchronous_sweep,
    overlap,
    synchronous_update,
)
from netwright.models.memory.hopfield_weights import hebbian_weights
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import (
    Estimate,
    Verdict,
    at_most,
    equals,
    estimate,
    estimate_share,
)

FairBits = Annotated[bool, Assumption("the bits of the patterns are independent fair coins")]
BIASED = 0.75  # share of +1 where they are not fair
BIASED_TEXT = (
    "Here three bits of four are +1: the patterns resemble each other, and their cross-talk adds "
    "up instead of cancelling, so that the dots leave the line."
)
SEEDS = {"quick": 12, "full": 20}
LOADS = (0.138, 0.2)
BIT_ERROR_BIAS = 0.2  # times 1/n: the sum is one of s - 1 patterns and n - 1 bits, not quite normal
HELD = {"quick": (0.10, 0.12), "full": (0.10, 0.13)}
CRITICAL = (0.138, 0.15, 0.17)  # n is finite: the fall is not as steep as predicted. Not judged
COLLAPSED = 0.20
MOST_LEFT = 0.5  # the overlap that may be left there
COLLAPSE_WITHIN = 0.02  # just below the fall a finite network loses some patterns
CAPACITY_BIAS = 0.5  # times 1/sqrt(n), beside the spread of a share: there are s - 1 others, not s
NETWORKS = {"quick": 5, "full": 10}
# Stored patterns whose fate is followed, by load; all of them where there is no number.
FOLLOWED: dict[Effort, dict[float, int]] = {"quick": {0.10: 20, 0.12: 20, 0.20: 10}, "full": {}}
MOST_SWEEPS = {"quick": 20, "full": 100}  # a state that still moves then is on its way down
PERFECT_SEEDS = {"quick": 10, "full": 100}
LEAST_COUNTED = 360  # patterns, also where a network holds few


@dataclass(frozen=True, kw_only=True)
class NetworkConfig(Config):
    """The network and its patterns."""

    units: Annotated[int, Interval(ge=50, le=2000), Doc("n, units of the network")] = 1000
    fair_bits: FairBits = True


def random_patterns(count: int, units: int, numbers: torch.Generator, *, fair: bool) -> Tensor:
    """Patterns of -1 and +1, (s, n)."""
    draws = torch.rand(count, units, generator=numbers)
    return torch.where(draws < (0.5 if fair else BIASED), 1.0, -1.0)


def bit_error(load: float) -> float:
    """(1 - erf(sqrt(n / 2s))) / 2, the chance that a bit is lost in one step, with load s/n."""
    return math.erfc(math.sqrt(1 / (2 * load))) / 2


@dataclass(frozen=True, kw_only=True)
class BitErrorConfig(NetworkConfig):
    """The network, its patterns, and its diagonal."""

    zero_diagonal: Annotated[bool, Assumption("no unit holds itself: w_ii = 0, not s/n")] = True


def measure_bit_error(given: BitErrorConfig, seed: int, effort: Effort) -> Verdict:
    """Update every stored pattern once and count the bits that turned."""
    numbers = generator(seed, "hopfield bit error")
    counts = [round(load * given.units) for load in LOADS]
    lost = [[lost_bits(given, count, numbers) for _ in range(SEEDS[effort])] for count in counts]
    rates = [estimate(of_networks) for of_networks in lost]
    errors = [stdev(of_networks) / math.sqrt(len(of_networks)) for of_networks in lost]
    curve = [0.05 + 0.005 * step for step in range(41)]
    return Verdict(
        findings=tuple(
            equals(
                f"share of bits that are lost in one step, {count} patterns in {given.units} units",
                bit_error(count / given.units),
                rate.mean,
                within=3 * error + BIT_ERROR_BIAS / given.units,
                n=rate.n,
                interval=rate.interval,
            )
            for count, rate, error in zip(counts, rates, errors, strict=True)
        ),
        chart=ClaimChart(
            x_label="load, patterns per unit s/n",
            y_label="share of bits lost in one step",
            series=(
                predicted("(1 - erf √(n/2s)) / 2", curve, map(bit_error, curve)),
                measured(
                    f"{given.units:,} units",
                    [count / given.units for count in counts],
                    [rate.mean for rate in rates],
                    [rate.interval for rate in rates],
                ),
            ),
            explanation="The more patterns are stored, the more often the cross-talk of the "
            "others turns a bit of a pattern that the network is shown without a fault."
            if given.fair_bits and given.zero_diagonal
            else BIASED_TEXT
            if not given.fair_bits
            else "A unit that holds itself keeps its bit more often than the formula says.",
            log="y",
        ),
    )


def lost_bits(given: BitErrorConfig, count: int, numbers: torch.Generator) -> float:
    """The share of bits of the stored patterns of one network that turn in one step."""
    patterns = random_patterns(count, given.units, numbers, fair=given.fair_bits)
    weights = hebbian_weights(patterns)
    if not given.zero_diagonal:
        weights.fill_diagonal_(count / given.units)
    return float((synchronous_update(patterns, weights) != patterns).double().mean())


BIT_ERROR = Claim(
    card=Card(
        sentence="With many units, a bit of a stored pattern is lost in one step with the chance"
        " that a normal number of variance s/n lies below -1.",
        formula=r"P = \frac{1}{2}\left(1 - \mathrm{erf}\sqrt{\frac{n}{2 s}}\right)"
        r" = \int_{-\infty}^{-1} \frac{e^{-z^2 n / 2s}}{\sqrt{2 \pi s / n}} \, dz",
        symbols={"n": "units", "s": "stored random patterns", "z": "the cross-talk"},
        source="Hertz, Krogh and Palmer (1991), Introduction to the Theory of Neural Computation,"
        " section 2.2",
        misprint="The integral is often printed without its factor 1/sqrt(2 pi s/n).",
    ),
    topic="Memories",
    kind="theorem",
    settings=BitErrorConfig,
    experiment=measure_bit_error,
)


def retrieved_overlap(load: float) -> float:
    """The overlap at which the dynamics rests when n is large; 0 where there is no such place.

    m = erf(y), with y the largest solution of y (sqrt(2 s/n) + 2/sqrt(pi) exp(-y^2)) = erf(y).
    """
    y = 10.0
    for _ in range(10_000):  # falls to the largest solution, or to 0
        y = math.erf(y) / (math.sqrt(2 * load) + 2 / math.sqrt(math.pi) * math.exp(-y * y))
    return math.erf(y)


@dataclass(frozen=True, kw_only=True)
class CollapseConfig(NetworkConfig):
    """The network and its patterns; of fewer units the fall is too gentle to tell."""

    units: Annotated[int, Interval(ge=800, le=2000), Doc("n, units of the network")] = 1000


def mean_overlap(
    given: NetworkConfig, load: float, effort: Effort, numbers: torch.Generator
) -> float:
    """Start at stored patterns, sweep until nothing moves, and compare with them."""
    count, followed = round(load * given.units), FOLLOWED[effort].get(load)
    patterns = random_patterns(count, given.units, numbers, fair=given.fair_bits)
    weights, stored = hebbian_weights(patterns), patterns[:followed]
    states, moving = stored.clone(), torch.arange(len(stored))
    for _ in range(MOST_SWEEPS[effort]):
        before = states[moving]
        after = asynchronous_sweep(before, weights)  # no bit is like another
        states[moving] = after
        moving = moving[(after != before).any(dim=1)]
        if not len(moving):
            break
    return float(overlap(states, stored).mean())


def measure_collapse(given: CollapseConfig, seed: int, effort: Effort) -> Verdict:
    """The overlap that is left of stored patterns, below and above the critical load."""
    numbers = generator(seed, "hopfield collapse")
    loads = (*HELD[effort], *(CRITICAL if effort == "full" else ()), COLLAPSED)
    tries = {
        load: estimate(
            [mean_overlap(given, load, effort, numbers) for _ in range(NETWORKS[effort])]
        )
        for load in loads
    }
    # An interval around 0.998 may reach beyond 1; an overlap does not.
    intervals = {
        load: (found.interval[0], min(1.0, found.interval[1])) for load, found in tries.items()
    }
    kept = [
        equals(
            _left_at(load),
            retrieved_overlap(load),
            tries[load].mean,
            within=COLLAPSE_WITHIN,
            n=tries[load].n,
            interval=intervals[load],
        )
        for load in HELD[effort]
    ]
    left = tries[COLLAPSED]
    lost = at_most(
        _left_at(COLLAPSED), MOST_LEFT, left.mean, n=left.n, interval=intervals[COLLAPSED]
    )
    curve = [0.05 + 0.001 * step for step in range(161)]
    return Verdict(
        findings=(*kept, lost),
        chart=ClaimChart(
            x_label="load, patterns per unit s/n",
            y_label="overlap with the stored pattern",
            series=(
                predicted("theory for many units", curve, map(retrieved_overlap, curve)),
                measured(
                    f"{given.units:,} units",
                    loads,
                    [tries[load].mean for load in loads],
                    [intervals[load] for load in loads],
                ),
            ),
            explanation="Each network starts at a stored pattern and runs until it rests, for at "
            f"most {MOST_SWEEPS[effort]} sweeps. Up to about 0.138 it stays near; beyond, each "
            "lost bit pulls others along. What is left there shrinks with the number of units."
            if given.fair_bits
            else BIASED_TEXT,
        ),
    )


def _left_at(load: float) -> str:
    return f"overlap that is left at s/n = {load:g}"


COLLAPSE = Claim(
    card=Card(
        sentence="Retrieval from a Hopfield network collapses when the patterns are more than"
        " about 0.138 of the units.",
        formula=r"m = \mathrm{erf}(y), \quad y \left(\sqrt{2 s / n}"
        r" + \frac{2}{\sqrt{\pi}} e^{-y^2}\right) = \mathrm{erf}(y);"
        r" \quad m = 0 \;\text{ if }\; s/n > 0.138",
        symbols={"m": "overlap with the stored pattern, at rest", "n": "units", "s": "patterns"},
        source="Amit, Gutfreund and Sompolinsky (1985), Physical Review Letters 55, 1530-1533",
    ),
    topic="Memories",
    kind="empirical",
    settings=CollapseConfig,
    experiment=measure_collapse,
)


def measure_capacity(given: NetworkConfig, seed: int, effort: Effort) -> Verdict:
    """Count the patterns of which no bit is lost, at n/(4 ln n), n/(2 log2 n) and n/(2 ln n)."""
    numbers, n = generator(seed, "hopfield capacity"), given.units
    counts = [int(n / scale) for scale in (4 * math.log(n), 2 * math.log2(n), 2 * math.log(n))]
    shares: list[Estimate] = []
    for count in counts:
        perfect, networks = 0, max(PERFECT_SEEDS[effort], math.ceil(LEAST_COUNTED / count))
        for _ in range(networks):
            patterns = random_patterns(count, n, numbers, fair=given.fair_bits)
            after = synchronous_update(patterns, hebbian_weights(patterns))
            perfect += int((after == patterns).all(dim=1).sum())
        shares.append(estimate_share(perfect, networks * count))
    curve = [counts[0] / 2 * 1.05**step for step in range(40)]
    return Verdict(
        findings=tuple(
            equals(
                f"share of patterns without a lost bit, of {count} in {n:,} units",
                chance := perfect_share(count, n),
                share.mean,
                within=CAPACITY_BIAS / math.sqrt(n)
                + 3 * math.sqrt(chance * (1 - chance) / share.n),
                n=share.n,
                interval=share.interval,
            )
            for count, share in zip(counts, shares, strict=True)
        ),
        chart=ClaimChart(
            x_label="stored patterns s",
            y_label="share without a lost bit",
            series=(
                predicted("(1 - P)ⁿ", curve, [perfect_share(count, n) for count in curve]),
                measured(
                    f"{n:,} units, at n/(4 ln n), n/(2 log₂ n) and n/(2 ln n)",
                    counts,
                    [share.mean for share in shares],
                    [share.interval for share in shares],
                ),
            ),
            explanation="A pattern is stored perfectly if none of its n bits turns in one step. "
            "Up to n/(4 ln n) patterns all are, up to n/(2 ln n) most of them."
            if given.fair_bits
            else BIASED_TEXT,
        ),
    )


def perfect_share(count: float, units: int) -> float:
    """(1 - P)^n, the chance that no bit of a pattern is lost."""
    return (1 - bit_error(count / units)) ** units


CAPACITY = Claim(
    card=Card(
        sentence="A Hopfield network of n units stores n/(2 ln n) random patterns so that most,"
        " and n/(4 ln n) so that all, are without a lost bit.",
        formula=r"P(\text{no bit is lost}) = \left(1 - \frac{1}{2}"
        r"\,\mathrm{erfc}\sqrt{\frac{n}{2 s}}\right)^n, \quad"
        r" s \le \frac{n}{2 \ln n} \;\text{ or }\; \frac{n}{4 \ln n}",
        symbols={"n": "units", "s": "stored random patterns"},
        source="McEliece, Posner, Rodemich and Venkatesh (1987), IEEE Transactions on Information"
        " Theory 33, 461-482",
        misprint="Often printed with log_2 n, which is a smaller number of patterns; the logarithm"
        " of the theorem is the natural one.",
    ),
    topic="Memories",
    kind="empirical",
    settings=NetworkConfig,
    experiment=measure_capacity,
)
