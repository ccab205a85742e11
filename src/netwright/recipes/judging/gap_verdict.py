"""What a gap between two learners says, in a word and a reason; and when it says nothing.

better, worse             p < 0.005: of 200 pairs of equal learners one is called different
undecided                 the seeds do not tell; the reason names how many would
noise                     one recipe under other seeds: the gap is chance, whatever its size
the same                  no difference on any seed
better here, worse here   neither depends on the seed: exact on these rows, silent on others
no verdict                fewer than three seeds, or the same gap on each
"""

from dataclasses import dataclass
from typing import Literal

from netwright.metrics.paired import (
    CONFIDENCE,
    MOST_PAIRS,
    SIGNIFICANCE,
    PairedGap,
    pairs_needed,
    written_p_value,
)

LEAST_SEEDS = 3  # with two, Student's interval reaches nearly thirteen standard errors each way
Better = Literal["higher", "lower"]
Word = Literal[
    "better",
    "worse",
    "better here",
    "worse here",
    "undecided",
    "noise",
    "the same",
    "no verdict",
]


@dataclass(frozen=True, kw_only=True)
class GapVerdict:
    """What a gap says of the challenger.

    Args:
        gap: challenger minus reference.
        word: the verdict.
        reason: why, or what it means.
        seeds_needed: with so many, four of five comparisons would tell the two apart, if the gap
            is as large as it looks; None where the reason names no number.
    """

    gap: PairedGap
    word: Word
    reason: str
    seeds_needed: int | None = None


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
    needed = None
    if len(gap.differences) < LEAST_SEEDS:
        word: Word = "no verdict"
        reason = f"no verdict, at least {LEAST_SEEDS} seeds are needed"
    elif gap.interval is None and gap.mean == 0:
        word, reason = "the same", "the same on every seed"
    elif same_recipe:
        word, reason = "noise", _same_recipe(gap, comparisons)
    elif gap.interval is None or gap.std is None or gap.p_value is None:
        word, reason = _judge_constant(gap.mean, better, seeds_matter)
    elif gap.p_value < SIGNIFICANCE:
        word, reason = _leads(gap.mean, better), f"the gap is real, {written_p_value(gap.p_value)}"
    else:
        needed = pairs_needed(gap.mean, gap.std, comparisons=comparisons)
        word = "undecided"
        reason = _undecided(gap.mean, gap.p_value, needed, hint=not _holds_zero(gap.interval))
    return GapVerdict(gap=gap, word=word, reason=reason, seeds_needed=needed)


def _holds_zero(interval: tuple[float, float]) -> bool:
    return interval[0] <= 0 <= interval[1]


def _leads(mean: float, better: Better) -> Literal["better", "worse"]:
    return "better" if (mean > 0) == (better == "higher") else "worse"


def _judge_constant(mean: float, better: Better, seeds_matter: bool) -> tuple[Word, str]:
    """The gap was the same under every seed: there is no spread to make an interval of."""
    if seeds_matter:
        return "no verdict", (
            "the same gap on every seed, so no interval can be given; "
            "more seeds or a finer metric would show the spread"
        )
    here: Word = "better here" if _leads(mean, better) == "better" else "worse here"
    return here, (
        "neither depends on the seed, so the gap is exact on this split "
        "and says nothing about other rows"
    )


def _same_recipe(gap: PairedGap, comparisons: int) -> str:
    if gap.interval is None or _holds_zero(gap.interval):
        return "this gap is noise, since the recipe is the same"
    alarms = 100 * (1 - CONFIDENCE) / comparisons
    return (
        "a false alarm: the recipe is the same, so this gap is noise; "
        f"{alarms:.2g} % of such gaps look as significant as this"
    )


def _undecided(mean: float, p_value: float, needed: int | None, *, hint: bool) -> str:
    """Why nothing is said, and how many seeds would settle it."""
    if mean == 0:
        return "undecided, there is no measured gap to estimate the number of seeds from"
    why = (
        f"a hint, but p = {p_value:.1g} is not below {SIGNIFICANCE:g}"
        if hint
        else "these seeds do not tell the two apart"
    )
    if needed is None:
        return f"undecided, {why}; more than {MOST_PAIRS:,} seeds would be needed to settle it"
    return f"undecided, {why}; about {needed:,} seeds would settle it"
