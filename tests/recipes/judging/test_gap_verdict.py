"""The verdict on a gap: real, undecided, exact, or none; never more than the seeds can say."""

from collections.abc import Sequence
from typing import Any

import pytest

from netwright.metrics.paired import paired_gap, pairs_needed
from netwright.recipes.judging.gap_verdict import GapVerdict, judge_gap
from tests.repetition import for_each


def judged(differences: Sequence[float], **how: Any) -> GapVerdict:
    """The verdict where the reference has 1 under every seed."""
    gap = paired_gap(
        [1.0] * len(differences),
        [1.0 + difference for difference in differences],
        comparisons=how.get("comparisons", 1),
    )
    verdict = judge_gap(gap, **{"better": "higher", **how})
    assert verdict.gap is gap
    return verdict


@for_each(
    ("sign", "better", "word"),
    [
        (1, "higher", "better"),
        (-1, "higher", "worse"),
        (1, "lower", "worse"),
        (-1, "lower", "better"),
    ],
)
def test_a_gap_beyond_its_interval_is_real(sign: int, better: str, word: str) -> None:
    verdict = judged([sign * 0.3, sign * 0.31, sign * 0.29], better=better)
    assert verdict.word == word
    assert verdict.reason == "the gap is real, p = 0.0004"


def test_a_gap_within_its_interval_is_undecided_and_says_how_many_seeds_would_settle_it() -> None:
    verdict = judged([0.3, -0.1, 0.1, 0.0, 0.2])
    assert verdict.word == "undecided"
    assert verdict.reason == (
        "undecided, these seeds do not tell the two apart; about 38 seeds would settle it"
    )
    assert verdict.gap.std is not None
    assert verdict.seeds_needed == 38 == pairs_needed(verdict.gap.mean, verdict.gap.std)


def test_a_large_gap_of_three_seeds_is_undecided_not_noise() -> None:
    """0.63 against 0.91: nobody would call it noise."""
    verdict = judged([0.1, 0.65, 0.09])
    assert verdict.word == "undecided"
    assert verdict.seeds_needed is not None


def test_an_interval_without_0_is_a_hint_until_p_is_small() -> None:
    verdict = judged([0.3, 0.33, 0.2])
    assert verdict.gap.interval is not None
    assert verdict.gap.interval[0] > 0
    assert verdict.word == "undecided"
    assert verdict.reason == (
        "undecided, a hint, but p = 0.02 is not below 0.005; about 5 seeds would settle it"
    )


def test_more_comparisons_ask_for_more_seeds() -> None:
    assert "about 47 seeds" in judged([0.3, -0.1, 0.1, 0.0, 0.2], comparisons=4).reason


def test_a_tiny_gap_asks_for_more_seeds_than_anyone_has() -> None:
    verdict = judged([0.3, -0.3, 0.001])
    assert verdict.word == "undecided"
    assert verdict.reason == (
        "undecided, these seeds do not tell the two apart; "
        "more than 10,000 seeds would be needed to settle it"
    )
    assert verdict.seeds_needed is None


def test_no_gap_names_no_number_of_seeds() -> None:
    verdict = judged([0.5, -0.5, 0.0])
    assert verdict.word == "undecided"
    assert verdict.reason == (
        "undecided, there is no measured gap to estimate the number of seeds from"
    )


@pytest.mark.parametrize("differences", [[0.5], [0.5, 0.50001], [0.0, 0.0]])
def test_under_three_seeds_there_is_no_verdict(differences: list[float]) -> None:
    verdict = judged(differences)
    assert verdict.word == "no verdict"
    assert verdict.reason == "no verdict, at least 3 seeds are needed"


@pytest.mark.parametrize(("gap", "word"), [(0.5, "worse here"), (-0.5, "better here")])
def test_where_no_seed_matters_the_gap_is_exact_and_says_nothing_of_other_rows(
    gap: float, word: str
) -> None:
    verdict = judged([gap] * 5, better="lower", seeds_matter=False)
    assert verdict.word == word
    assert verdict.reason == (
        "neither depends on the seed, so the gap is exact on this split "
        "and says nothing about other rows"
    )


def test_an_even_gap_of_learners_that_do_depend_on_the_seed_has_no_interval() -> None:
    verdict = judged([0.25] * 5)
    assert verdict.word == "no verdict"
    assert verdict.reason == (
        "the same gap on every seed, so no interval can be given; "
        "more seeds or a finer metric would show the spread"
    )


@pytest.mark.parametrize("seeds_matter", [True, False])
def test_no_difference_at_all_is_the_same(seeds_matter: bool) -> None:
    verdict = judged([0.0] * 3, seeds_matter=seeds_matter)
    assert (verdict.word, verdict.reason) == ("the same", "the same on every seed")


@pytest.mark.parametrize("differences", [[0.3, -0.1, 0.1], [0.25] * 3])
def test_one_recipe_under_other_seeds_is_noise(differences: list[float]) -> None:
    verdict = judged(differences, same_recipe=True)
    assert verdict.word == "noise"
    assert verdict.reason == "this gap is noise, since the recipe is the same"
    assert verdict.seeds_needed is None


@for_each(("comparisons", "share"), [(1, "5"), (2, "2.5"), (3, "1.7"), (10, "0.5")])
@for_each("sign", [1, -1])
def test_a_false_alarm_is_noise_and_says_how_rare_it_is(
    comparisons: int, share: str, sign: int
) -> None:
    gaps = [sign * gap for gap in (0.3, 0.301, 0.299)]
    verdict = judged(gaps, same_recipe=True, comparisons=comparisons)
    assert verdict.word == "noise"
    assert verdict.reason == (
        "a false alarm: the recipe is the same, so this gap is noise; "
        f"{share} % of such gaps look as significant as this"
    )


def test_one_recipe_that_scores_the_same_is_the_same() -> None:
    assert judged([0.0] * 3, same_recipe=True).word == "the same"
    assert judged([0.5] * 2, same_recipe=True).word == "no verdict"
