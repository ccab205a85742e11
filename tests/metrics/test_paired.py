"""The paired gap: parity with scipy, a case by hand, coverage, and what a spread of zero means."""

import math

import numpy as np
import pytest
from scipy.stats import nct, t, ttest_rel

from netwright.core.errors import ConfigError, DataError
from netwright.metrics.paired import (
    MOST_PAIRS,
    POWER,
    SIGNIFICANCE,
    half_width,
    paired_gap,
    pairs_needed,
    written_p_value,
)
from tests.repetition import for_each


def draw(seed: int, n: int, *, shift: float = 0.0) -> tuple[list[float], list[float]]:
    """Scores that share their luck, as those of one seed do, and differ by noise."""
    rng = np.random.default_rng(seed)
    luck = rng.normal(size=n)
    return list(luck), list(luck + shift + 0.3 * rng.normal(size=n))


def test_a_case_by_hand() -> None:
    gap = paired_gap([10.0, 20.0, 30.0], [11.0, 22.0, 33.0])
    assert gap.differences == (1.0, 2.0, 3.0)
    assert (gap.mean, gap.std) == (2.0, 1.0)
    reach = 4.302653 / math.sqrt(3)  # the 97.5 % quantile with 2 degrees of freedom
    assert gap.interval == pytest.approx((2 - reach, 2 + reach), rel=1e-6)
    assert half_width(1.0, 3) == pytest.approx(reach, rel=1e-6)


@for_each("n", [2, 3, 5, 12, 100])
@for_each("comparisons", [1, 4])
def test_interval_and_p_value_are_scipys(n: int, comparisons: int) -> None:
    reference, challenger = draw(n, n, shift=0.2)
    gap = paired_gap(reference, challenger, comparisons=comparisons)
    theirs = ttest_rel(challenger, reference)
    low, high = theirs.confidence_interval(1 - 0.05 / comparisons)
    assert gap.interval == pytest.approx((low, high), rel=1e-9)
    assert gap.p_value == pytest.approx(min(1.0, theirs.pvalue * comparisons), rel=1e-9)


@for_each("seed", range(20))
def test_p_value_is_small_exactly_where_the_interval_leaves_out_0(seed: int) -> None:
    gap = paired_gap(*draw(seed, 5, shift=0.35), comparisons=2)
    assert gap.interval is not None
    assert gap.p_value is not None
    low, high = gap.interval
    assert (gap.p_value < 0.05) == (low > 0 or high < 0)


def test_a_p_value_too_small_for_a_float_is_not_called_0() -> None:
    tiny = paired_gap([0.0, 0.1] * 40_000, [5.0, 5.2] * 40_000).p_value
    assert tiny == 0
    assert written_p_value(tiny) == "p < 1e-300"
    assert written_p_value(3.2e-8) == "p = 3e-08"


def test_changing_sides_turns_the_gap_round() -> None:
    one, two = draw(0, 6, shift=0.2)
    there, back = paired_gap(one, two), paired_gap(two, one)
    assert there.interval is not None
    assert back.mean == -there.mean
    assert back.interval == (-there.interval[1], -there.interval[0])
    assert back.p_value == there.p_value


def test_what_both_owe_to_the_seed_drops_out() -> None:
    one, two = draw(0, 6)
    luck = [100.0 * seed for seed in range(6)]
    plain = paired_gap(one, two)
    lucky = paired_gap(
        [a + b for a, b in zip(one, luck, strict=True)],
        [a + b for a, b in zip(two, luck, strict=True)],
    )
    assert lucky.interval == pytest.approx(plain.interval, abs=1e-9)


@pytest.mark.slow
def test_with_no_gap_one_interval_in_twenty_leaves_out_0() -> None:
    """5,000 comparisons of five seeds each: the standard error of the rate is 0.3 %."""
    alarms = 0
    for seed in range(5000):
        gap = paired_gap(*draw(seed, 5))
        alarms += gap.p_value is not None and gap.p_value < 0.05
    assert alarms / 5000 == pytest.approx(0.05, abs=0.008)


def test_intervals_cover_the_true_gap_19_times_in_20() -> None:
    hits = 0
    for seed in range(3000):
        interval = paired_gap(*draw(seed, 5, shift=0.4)).interval
        hits += interval is not None and interval[0] <= 0.4 <= interval[1]
    assert hits / 3000 == pytest.approx(0.95, abs=0.01)


def test_several_intervals_together_are_wrong_one_time_in_twenty_at_most() -> None:
    """Three challengers against one reference, none of them any better."""
    alarms = 0
    for seed in range(1500):
        scores = np.random.default_rng(seed).normal(size=(4, 5))
        gaps = [paired_gap(list(scores[0]), list(row), comparisons=3) for row in scores[1:]]
        alarms += any(gap.p_value is not None and gap.p_value < 0.05 for gap in gaps)
    assert 0.02 < alarms / 1500 < 0.055


@for_each("comparisons", [1, 3])
@for_each("ratio", [0.03, 0.3, 1.0, 2.0, 10.0, 400.0])
def test_pairs_needed_are_the_fewest_whose_power_is_four_in_five(
    ratio: float, comparisons: int
) -> None:
    def power(n: int) -> float:
        reach = t.isf(SIGNIFICANCE / 2 / comparisons, n - 1)
        return float(nct.sf(reach, n - 1, ratio * math.sqrt(n)))

    for mean in (2 * ratio, -2 * ratio):
        count = pairs_needed(mean, 2.0, comparisons=comparisons)
        if count is None:
            assert power(MOST_PAIRS) < POWER
        else:
            assert power(count) >= POWER
            assert count == 2 or power(count - 1) < POWER


@for_each("ratio", [0.4, 1.0, 2.5])
@for_each("comparisons", [1, 3])
def test_of_comparisons_with_the_pairs_needed_four_in_five_are_found_real(
    ratio: float, comparisons: int
) -> None:
    """10,000 comparisons: the standard error of the rate is 0.4 %; one pair less has less."""
    count = pairs_needed(ratio, 1.0, comparisons=comparisons)
    assert count is not None

    def rate(n: int) -> float:
        differences = np.random.default_rng(0).normal(ratio, 1.0, size=(10_000, n))
        reach = t.isf(SIGNIFICANCE / 2 / comparisons, n - 1) / math.sqrt(n)
        return float((differences.mean(axis=1) > differences.std(axis=1, ddof=1) * reach).mean())

    assert rate(count) > 0.79
    assert rate(count - 1) < 0.81
    assert rate(count) - rate(count - 1) > 0


@for_each("seed", range(20))
def test_a_gap_within_noise_needs_more_pairs_than_it_has(seed: int) -> None:
    for n in (3, 5):
        gap = paired_gap(*draw(seed, n, shift=0.05))
        assert gap.interval is not None
        assert gap.std is not None
        needed = pairs_needed(gap.mean, gap.std)
        if gap.interval[0] <= 0 <= gap.interval[1]:
            assert needed is None or needed > n


def test_no_number_of_pairs_settles_a_gap_of_0_or_a_tiny_one() -> None:
    assert pairs_needed(0.0, 1.0) is None
    assert pairs_needed(3.64 / math.sqrt(MOST_PAIRS), 1.0) is None
    # For many pairs the power is normal: 2.807 + 0.842 standard errors are needed.
    assert pairs_needed(4.0 / math.sqrt(MOST_PAIRS), 1.0) == pytest.approx(8321, abs=20)


def test_an_interval_stays_within_what_a_difference_can_be() -> None:
    """Three seeds of 0.63 against 0.91 reach beyond [-1, 1] by Student's formula."""
    scores = ([0.2, 0.85, 0.84], [0.9, 0.91, 0.92])
    free, cut = paired_gap(*scores), paired_gap(*scores, bounds=(0.0, 1.0))
    assert free.interval is not None
    assert free.interval[1] > 1
    assert cut.interval == (free.interval[0], 1.0)
    assert (cut.mean, cut.std, cut.p_value) == (free.mean, free.std, free.p_value)
    turned = paired_gap(*reversed(scores), bounds=(0.0, 1.0))
    assert turned.interval == (-1.0, -free.interval[0])


def test_errors_have_no_upper_bound() -> None:
    scores = ([0.1, 9.0, 0.2], [5.0, 0.1, 3.0])
    assert paired_gap(*scores, bounds=(0.0, math.inf)) == paired_gap(*scores)


def test_equal_differences_have_no_interval_also_where_they_differ_by_rounding() -> None:
    reference, challenger = [0.9625, 0.9, 0.1], [0.975, 0.9125, 0.1125]
    rounded = [b - a for a, b in zip(reference, challenger, strict=True)]
    assert len(set(rounded)) > 1  # so it is a test of rounding
    gap = paired_gap(reference, challenger)
    assert gap.mean == pytest.approx(0.0125)
    assert (gap.std, gap.interval, gap.p_value) == (0.0, None, None)


def test_small_scores_are_not_taken_for_rounding() -> None:
    gap = paired_gap([1e-12, 2e-12, 3e-12], [2e-12, 4e-12, 6e-12])
    assert gap.interval is not None
    assert gap.mean == pytest.approx(2e-12)


def test_a_mean_that_cancels_is_exactly_0() -> None:
    differences = [0.1, 0.2, -0.30000000000000004 + 1e-16]
    assert sum(differences) != 0  # so it is a test of rounding
    gap = paired_gap([0.0, 0.0, 0.0], differences)
    assert gap.mean == 0.0
    assert gap.interval is not None


def test_one_pair_has_no_spread() -> None:
    gap = paired_gap([1.0], [3.0])
    assert (gap.mean, gap.std, gap.interval, gap.p_value) == (2.0, None, None, None)


def test_what_comes_in_no_pairs_is_refused() -> None:
    with pytest.raises(DataError, match="pairs, got 2 of the reference and 1 of the challenger"):
        paired_gap([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="pairs, got 0 of the reference and 0 of the challenger"):
        paired_gap([], [])
    with pytest.raises(DataError, match=r"^scores must be finite, got nan$"):
        paired_gap([1.0, math.nan], [1.0, 2.0])
    with pytest.raises(ConfigError, match="comparisons must be positive, got 0"):
        paired_gap([1.0, 2.0], [1.0, 3.0], comparisons=0)
