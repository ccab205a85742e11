"""Paired differences: does one learner beat another by more than the luck of its seeds?

The two are scored under the same n seeds, d_i = challenger_i - reference_i, and the mean of d has
the interval

    mean(d) +- t std(d) / sqrt(n),    t the quantile of Student's distribution, n - 1 degrees

With m comparisons each has the confidence 1 - (1 - confidence) / m, so that all hold together.
Where the interval would leave what a difference can be, it is cut: the true mean lies inside.

An interval of 95 % leaves out 0 for one equal pair in twenty, too often for a verdict: a gap counts
as real where the p-value of the paired t-test, times m, is below 0.005.

How many pairs would tell a gap from 0? Under a true mean of g with a spread of s, mean(d) over its
standard error has the noncentral t distribution with n - 1 degrees around g sqrt(n) / s; the power
of n pairs is the chance that its p-value is below 0.005, on the side of g.

Shapes: n pairs.
Source: Student, "The Probable Error of a Mean" (1908); Dunn, "Multiple Comparisons Among Means"
(1961), for m comparisons; Johnson and Welch, "Applications of the Non-Central t-Distribution"
(1940), for the power; Benjamin et al., "Redefine Statistical Significance" (2018), for 0.005.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import nctdtr, stdtr, stdtrit

from netwright.core.checks import check_positive
from netwright.core.errors import DataError

CONFIDENCE = 0.95
SIGNIFICANCE = 0.005  # of equal pairs, the share that may be called different
UNBOUNDED = (-math.inf, math.inf)
POWER = 0.8
MOST_PAIRS = 10_000
# Differences of equal size differ by this share of the scores at most, by rounding alone.
ROUNDING = 1e-9
SMALLEST = 1e-300  # what a float tells from 0


@dataclass(frozen=True, kw_only=True)
class PairedGap:
    """How far a challenger lies above the reference.

    Args:
        differences: challenger minus reference, one a pair.
        mean: of the differences; exactly 0 where they cancel but for rounding.
        std: of the differences, with n - 1; None for one pair.
        interval: where the mean may lie; None for one pair, and where all differences are equal:
            their spread is then not known to be zero, it is not known at all.
        p_value: of the paired t-test, times the number of comparisons; None without an interval.
    """

    differences: tuple[float, ...]
    mean: float
    std: float | None
    interval: tuple[float, float] | None
    p_value: float | None


def paired_gap(
    reference: Sequence[float],
    challenger: Sequence[float],
    *,
    comparisons: int = 1,
    bounds: tuple[float, float] = UNBOUNDED,
) -> PairedGap:
    """The mean difference of paired scores with its interval.

    Args:
        reference: n scores.
        challenger: n scores under the same seeds, in the same order.
        comparisons: how many intervals are to hold at once.
        bounds: the lowest and the highest score that there can be.
    """
    _check_pairs(reference, challenger)
    check_positive("comparisons", comparisons)
    differences = tuple(b - a for a, b in zip(reference, challenger, strict=True))
    n = len(differences)
    rounding = ROUNDING * max(map(abs, (*reference, *challenger)))
    mean = statistics.fmean(differences)
    mean = 0.0 if abs(mean) <= rounding else mean
    if max(differences) - min(differences) <= rounding:  # so it is for one pair
        std = None if n == 1 else 0.0
        return PairedGap(differences=differences, mean=mean, std=std, interval=None, p_value=None)
    std = statistics.stdev(differences)
    half, most = half_width(std, n, comparisons=comparisons), bounds[1] - bounds[0]
    tail = float(stdtr(n - 1, -abs(mean) / (std / math.sqrt(n))))
    return PairedGap(
        differences=differences,
        mean=mean,
        std=std,
        interval=(max(-most, mean - half), min(most, mean + half)),
        p_value=min(1.0, 2 * tail * comparisons),
    )


def half_width(std: float, pairs: int, *, comparisons: int = 1) -> float:
    """How far the interval reaches to either side, for differences of this spread."""
    reach = _quantile(np.array([pairs]), (1 - CONFIDENCE) / comparisons)[0]
    return std * float(reach) / math.sqrt(pairs)


def pairs_needed(mean: float, std: float, *, comparisons: int = 1) -> int | None:
    """The fewest pairs that find the gap real, on the mean's side of 0, in four of five tries.

    Mean and standard deviation, which must not be 0, are taken for the true ones. None where
    10,000 pairs are too few, as they are for a mean of 0.
    """
    first, last = 2, 2
    while first <= MOST_PAIRS:  # few pairs first: the distribution is slow to compute
        last = min(2 * last + 100, MOST_PAIRS)
        counts = np.arange(first, last + 1)
        centre = abs(mean) / std * np.sqrt(counts)
        # Far beyond enough pairs scipy may give NaN, which counts as no: the fewest come before.
        reach = _quantile(counts, SIGNIFICANCE / comparisons)
        enough = nctdtr(counts - 1, centre, reach) <= 1 - POWER
        if enough.any():
            return int(counts[enough.argmax()])
        first = last + 1
    return None


def written_p_value(p_value: float) -> str:
    """As a person reads it; of many pairs it may be too small for a float."""
    return f"p < {SMALLEST:.0e}" if p_value < SMALLEST else f"p = {p_value:.1g}"


def _quantile(pairs: NDArray[np.int64], outside: float) -> NDArray[np.float64]:
    """How many standard errors to either side leave this share of Student's distribution out."""
    return np.asarray(stdtrit(pairs - 1, 1 - outside / 2), dtype=np.float64)


def _check_pairs(reference: Sequence[float], challenger: Sequence[float]) -> None:
    if not reference or len(reference) != len(challenger):
        raise DataError(
            f"scores must come in pairs, got {len(reference)} of the reference and "
            f"{len(challenger)} of the challenger"
        )
    for score in (*reference, *challenger):
        if not math.isfinite(score):
            raise DataError(f"scores must be finite, got {score}")
