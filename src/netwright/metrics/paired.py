"""Paired differences: does one learner beat another by more than the luck of its seeds?

The two are scored under the same n seeds, d_i = challenger_i - reference_i, and the mean of d has
the interval

    mean(d) +- t std(d) / sqrt(n),    t the quantile of Student's distribution, n - 1 degrees

With m comparisons each has the confidence 1 - (1 - confidence) / m, so that all hold together.

How many pairs would tell a gap from 0? Under a true mean of g with a spread of s, mean(d) over its
standard error has the noncentral t distribution with n - 1 degrees around g sqrt(n) / s; the power
of n pairs is the chance that it lies beyond t.

Shapes: n pairs.
Source: Student, "The Probable Error of a Mean" (1908); Dunn, "Multiple Comparisons Among Means"
(1961), for m comparisons; Johnson and Welch, "Applications of the Non-Central t-Distribution"
(1940), for the power.
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
POWER = 0.8
MOST_PAIRS = 10_000
# Differences of equal size differ by this share of the scores at most, by rounding alone.
ROUNDING = 1e-9


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
    reference: Sequence[float], challenger: Sequence[float], *, comparisons: int = 1
) -> PairedGap:
    """The mean difference of paired scores with its interval.

    Args:
        reference: n scores.
        challenger: n scores under the same seeds, in the same order.
        comparisons: how many intervals are to hold at once.
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
    half = half_width(std, n, comparisons=comparisons)
    tail = float(stdtr(n - 1, -abs(mean) / (std / math.sqrt(n))))
    return PairedGap(
        differences=differences,
        mean=mean,
        std=std,
        interval=(mean - half, mean + half),
        p_value=min(1.0, 2 * tail * comparisons),
    )


def half_width(std: float, pairs: int, *, comparisons: int = 1) -> float:
    """How far the interval reaches to either side, for differences of this spread."""
    return std * float(_quantile(np.array([pairs]), comparisons)[0]) / math.sqrt(pairs)


def pairs_needed(mean: float, std: float, *, comparisons: int = 1) -> int | None:
    """The fewest pairs whose interval lies on the mean's side of 0 in four of five tries.

    Mean and standard deviation, which must not be 0, are taken for the true ones. None where
    10,000 pairs are too few, as they are for a mean of 0.
    """
    counts = np.arange(2, MOST_PAIRS + 1)
    centre = abs(mean) / std * np.sqrt(counts)
    # Far beyond enough pairs scipy may give NaN, which counts as no: the fewest come before.
    enough = nctdtr(counts - 1, centre, _quantile(counts, comparisons)) <= 1 - POWER
    return int(counts[enough.argmax()]) if enough.any() else None


def _quantile(pairs: NDArray[np.int64], comparisons: int) -> NDArray[np.float64]:
    """How many standard errors the interval reaches to either side."""
    tail = (1 - CONFIDENCE) / comparisons / 2
    return np.asarray(stdtrit(pairs - 1, 1 - tail), dtype=np.float64)


def _check_pairs(reference: Sequence[float], challenger: Sequence[float]) -> None:
    if not reference or len(reference) != len(challenger):
        raise DataError(
            f"scores must come in pairs, got {len(reference)} of the reference and "
            f"{len(challenger)} of the challenger"
        )
    for score in (*reference, *challenger):
        if not math.isfinite(score):
            raise DataError(f"scores must be finite, got {score}")
