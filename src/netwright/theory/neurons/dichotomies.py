r"""Cover's theorem: how many of the 2^s ways to label s points a plane through the origin can give.

    C(s, n) = 2 sum_{i < n} binom(s - 1, i)        for s points in general position in R^n

It follows from C(s + 1, n) = C(s, n) + C(s, n - 1): a new point splits those dichotomies whose
plane may pass through it. The share C(s, n) / 2^s is 1 up to s = n, 1/2 at s = 2 n, and then falls
to 0.

Shapes: s points, n dimensions.
Source: Cover, "Geometrical and statistical properties of systems of linear inequalities" (1965).
"""

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, Series, measured, predicted
from netwright.models.neurons.separability import is_separable
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals, estimate_share, no_violations

CASES = {
    "quick": ((4, 2), (6, 3), (8, 3)),
    "full": tuple((s, n) for n in (2, 3, 4) for s in range(1, 9)),
}
DRAWS = {"quick": 100, "full": 1_000}  # random labelings at each place
DIMENSIONS = (5, 25, 125)
MEASURED = 10  # the dimension that is also tried out
PLACES = (1.5, 2.0, 2.5)  # s / n
SYMBOLS = {"s": "points", "n": "dimensions", "C(s, n)": "labelings that a plane can give"}
SOURCE = "Cover (1965), IEEE Transactions on Electronic Computers 14, 326-334"


def cover_count(s: int, n: int) -> int:
    """C(s, n) = 2 sum_{i < n} binom(s - 1, i)."""
    return 2 * sum(math.comb(s - 1, i) for i in range(n))


def cover_share(s: int, n: int) -> float:
    """C(s, n) / 2^s, exact to the last digit."""
    return cover_count(s, n) / (1 << s)


def in_general_position(points: Tensor) -> bool:
    """Whether any n of the points (s, n), or all of fewer, are linearly independent."""
    count = min(points.shape)
    return all(
        int(torch.linalg.matrix_rank(points[list(rows)])) == count
        for rows in combinations(range(len(points)), count)
    )


def count_dichotomies(points: Tensor) -> int:
    """How many labelings of the points (s, n) a plane through the origin gives, one by one.

    A labeling and its opposite need the same plane, so that half of them are tried.
    """
    labelings = product((1.0, -1.0), repeat=len(points) - 1)
    return 2 * sum(
        is_separable(points, torch.tensor((1.0, *rest)), bias=False) for rest in labelings
    )


@dataclass(frozen=True, kw_only=True)
class DichotomiesConfig(Config):
    """The random points."""

    general_position: Annotated[
        bool, Assumption("any n points are independent; off: one is a multiple of another")
    ] = True


@dataclass(frozen=True, kw_only=True)
class CapacityConfig(Config):
    """The random points."""

    general_position: Annotated[
        bool, Assumption("any n points are independent; off: all lie in half as many dimensions")
    ] = True


def measure_counting(given: DichotomiesConfig, seed: int, effort: Effort) -> Verdict:
    """Try every labeling of random points by a linear program."""
    random = generator(seed, "dichotomies")
    cases, counts = CASES[effort], []
    for s, n in cases:
        points = torch.randn(s, n, generator=random, dtype=torch.float64)
        if not given.general_position and s > 1:
            points[1] = 2 * points[0]
        counts.append(count_dichotomies(points))
    names = [f"{s}, {n}" for s, n in cases]
    predictions = [cover_count(s, n) for s, n in cases]
    return Verdict(
        findings=tuple(
            equals(f"dichotomies of {s} points in {n} dimensions", wanted, count, n=2**s)
            for (s, n), wanted, count in zip(cases, predictions, counts, strict=True)
        ),
        chart=ClaimChart(
            x_label="points s, dimensions n",
            y_label="labelings that a plane can give",
            series=(
                predicted("C(s, n)", range(len(cases)), predictions),
                measured("counted by linear programs", range(len(cases)), counts),
            ),
            explanation="Every labeling of random points is tried; the count is the formula's."
            if given.general_position
            else "Every labeling is tried. A plane gives a point and its multiple the same label: "
            "fewer labelings are left than the formula says.",
            categories=tuple(names) if len(names) < 9 else tuple(_thinned(names)),
        ),
    )


def measure_capacity(given: CapacityConfig, seed: int, effort: Effort) -> Verdict:
    """Random labelings of random points around s = 2 n, beside the formula."""
    random = generator(seed, "capacity")
    shares = []
    for place in PLACES:
        s = round(place * MEASURED)
        won = sum(_random_dichotomy(s, given, random) for _ in range(DRAWS[effort]))
        shares.append(estimate_share(won, DRAWS[effort]))
    half = shares[PLACES.index(2.0)]
    halves = sum(2 * cover_count(2 * n, n) != 4**n for n in range(1, 21))
    last = DIMENSIONS[-1]
    return Verdict(
        findings=(
            equals(
                f"share of random labelings of {2 * MEASURED} points in {MEASURED} dimensions",
                0.5,
                half.mean,
                # Four standard deviations of a share of one half.
                within=2 / math.sqrt(DRAWS[effort]),
                n=half.n,
                interval=half.interval,
            ),
            no_violations("n from 1 to 20 with C(2n, n) other than 2^2n / 2", halves, n=20),
            equals(
                f"width of the fall from 0.9 to 0.1 in s/n, times the root of n, n = {last}",
                2 * math.sqrt(2) * 1.281552,  # the normal limit of the binomial sum
                fall_width(last) * math.sqrt(last),
                within=0.05,
                n=1,
            ),
        ),
        chart=ClaimChart(
            x_label="points a dimension, s/n",
            y_label="share of labelings by a plane",
            series=(
                *(_formula(n) for n in (MEASURED, *DIMENSIONS)),
                measured(
                    f"random labelings, n = {MEASURED}",
                    PLACES,
                    [share.mean for share in shares],
                    [share.interval for share in shares],
                ),
            ),
            explanation="All curves cross 1/2 at two points a dimension, and fall the more "
            "steeply the more dimensions there are. The number itself keeps growing."
            if given.general_position
            else "The curves are for points in general position. The dots lie in half as many "
            "dimensions, so that they fall to 1/2 at half as many points.",
        ),
    )


def fall_width(n: int) -> float:
    """How far apart in s/n the shares 0.9 and 0.1 lie, between whole numbers of points."""
    return (_place_of(0.1, n) - _place_of(0.9, n)) / n


def _place_of(share: float, n: int) -> float:
    """The s, between whole numbers, where C(s, n) / 2^s falls to this share."""
    s = next(s for s in range(n, 4 * n) if cover_share(s, n) <= share)
    before, after = cover_share(s - 1, n), cover_share(s, n)
    return s - 1 + (before - share) / (before - after)


def _formula(n: int) -> Series:
    counts = range(n, 3 * n + 1)
    shares = [cover_share(s, n) for s in counts]
    return predicted(f"formula, n = {n}", [s / n for s in counts], shares)


def _random_dichotomy(s: int, given: CapacityConfig, random: torch.Generator) -> bool:
    """Whether a random labeling of s random points is one that a plane gives."""
    points = torch.randn(s, MEASURED, generator=random, dtype=torch.float64)
    if not given.general_position:
        points[:, MEASURED // 2 :] = 0.0
    signs = torch.randn(s, generator=random).sign()
    return is_separable(points, signs, bias=False)


def _thinned(names: list[str]) -> list[str]:
    """Every fourth name: all of them would touch."""
    return [name if place % 4 == 3 else "" for place, name in enumerate(names)]


COUNTING = Claim(
    card=Card(
        sentence="A plane through the origin gives 2 [C(s-1, 0) + ... + C(s-1, n-1)] "
        "labelings of s points in general position in n dimensions.",
        formula=r"C(s, n) = 2 \sum_{i=0}^{n-1} \binom{s-1}{i}",
        symbols=SYMBOLS,
        source=SOURCE,
    ),
    topic="Neurons",
    kind="theorem",
    settings=DichotomiesConfig,
    experiment=measure_counting,
)
CAPACITY = Claim(
    card=Card(
        sentence="A plane gives half of all labelings of 2n points in n dimensions; the share "
        "falls from 1 to 0 around there, within a width of the order of 1/√n.",
        formula=r"\frac{C(2n, n)}{2^{2n}} = \frac{1}{2}",
        symbols=SYMBOLS,
        source=SOURCE,
        misprint="It is the share that falls to 0; the number of labelings keeps growing.",
    ),
    topic="Neurons",
    kind="theorem",
    settings=CapacityConfig,
    experiment=measure_capacity,
)
