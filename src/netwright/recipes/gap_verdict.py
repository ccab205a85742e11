"""What a gap between two learners says, in a word and a reason; and when it says nothing."""

from dataclasses import dataclass
from typing import Literal

from netwright.metrics.paired import MOST_PAIRS, PairedGap, pairs_needed

LEAST_SEEDS = 3  # with two, Student's interval reaches nearly thirteen standard errors each way
Better = Literal["higher", "lower"]
Word = Literal["better", "worse", "better here", "worse here", "noise", "the same", "no verdict"]


@dataclass(frozen=True, kw_only=True)
class GapVerdict:
    """What a gap says of the challenger.

    Args:
        gap: challenger minus reference.
        word: the verdict.
        reason: why, or what it means.
    """

    gap: PairedGap
    word: Word
    reason: str


def judge_gap(
    gap: PairedGap,
    *,
    better: Better,
    comparisons: int = 1,
    seeds_matter: bool = True,
    same_recipe: bool = False,
) -> GapVerdict:
    """The verdict on the challenger of a gap.

    Args:
        gap: challenger minus reference.
        better: whether a higher or a lower score is the better one.
        comparisons: how many gaps are judged together.
        seeds_matter: whether the seed changes anything in the one or the other.
        same_recipe: both are one recipe under different seeds.
    """
    if len(gap.differences) < LEAST_SEEDS:
        word: Word = "no verdict"
        reason = f"no verdict, {LEAST_SEEDS} seeds are the least"
    elif gap.interval is None:
        word, reason = _judge_constant(gap.mean, better, seeds_matter)
    elif gap.interval[0] <= 0 <= gap.interval[1]:
        word, reason = "noise", _noise(gap, comparisons, same_recipe)
    else:
        word, reason = _leads(gap.mean, better), "the interval leaves out 0"
    if same_recipe and word in {"better", "worse"}:
        reason = "a false alarm, since the recipe is the same; one in twenty looks like this"
    return GapVerdict(gap=gap, word=word, reason=reason)


def _leads(mean: float, better: Better) -> Literal["better", "worse"]:
    return "better" if (mean > 0) == (better == "higher") else "worse"


def _judge_constant(mean: float, better: Better, seeds_matter: bool) -> tuple[Word, str]:
    """The gap was the same under every seed: there is no spread to make an interval of."""
    if mean == 0:
        return "the same", "the same on every seed"
    if seeds_matter:
        return _leads(mean, better), (
            "the same gap on every seed, so no interval can be given; "
            "more seeds or a finer metric would show the spread"
        )
    here: Word = "better here" if _leads(mean, better) == "better" else "worse here"
    return here, (
        "neither depends on the seed, so the gap is exact on this split "
        "and says nothing about other rows"
    )


def _noise(gap: PairedGap, comparisons: int, same_recipe: bool) -> str:
    if same_recipe:
        return "this gap is noise, since the recipe is the same"
    if gap.mean == 0:
        return "no gap was seen; no number of seeds can be named that would settle it"
    needed = pairs_needed(gap.mean, gap.std or 0.0, comparisons=comparisons)
    if needed is None:
        return f"this gap is noise; more than {MOST_PAIRS:,} seeds would be needed to settle it"
    return f"this gap is noise; about {needed:,} seeds would settle it"
