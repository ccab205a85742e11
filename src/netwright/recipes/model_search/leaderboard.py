"""The leaderboard of a search over models: each beside the best, paired row by row.

Shapes: N rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netwright.data.dataset import Split
from netwright.data.spec import TargetKind
from netwright.inspection.drawing.view import plain
from netwright.metrics.paired import SIGNIFICANCE, PairedGap, written_p_value
from netwright.recipes.model_search.entrant import Entrant
from netwright.recipes.model_search.race import common_gap

CAUTION = (
    "Losses are of rows that the model had not learned from, and gaps are paired row by row with "
    "the best. The best of several looks slightly better on these rows than it is, because it was "
    "chosen on them; the test rows had no part in the search. A model is called worse where p is "
    f"below {SIGNIFICANCE}: a 95 % interval that leaves out 0 is not enough."
)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One row of the leaderboard.

    Args:
        name: of the model, or of the stack.
        loss: mean over the rows it answered: log loss, or squared error in units of the variance.
        score: accuracy, or R^2.
        rows: that it answered.
        seconds: of a fit, in the mean.
        gap: what it costs more than the best, on the rows that both answered; None for the best.
        verdict: what that says.
    """

    name: str
    loss: float
    score: float
    rows: int
    seconds: float
    gap: float | None
    interval: tuple[float, float] | None
    verdict: str


def standings(entrants: Sequence[Entrant], split: Split, target: TargetKind) -> list[Standing]:
    """Those that finished, then those that left, then those that have answered nothing."""
    scored = [entrant for entrant in entrants if entrant.seconds]
    ranked = sorted(scored, key=lambda one: (bool(one.left), one.mean_loss))
    best, *others = ranked
    found = [_standing(best, split, target, None, "best")]
    for entrant in others:
        gap = common_gap(best, entrant, comparisons=len(others))
        found.append(_standing(entrant, split, target, gap, _verdict(gap, entrant)))
    silent = [entrant for entrant in entrants if not entrant.seconds]
    return found + [_standing(one, split, target, None, one.left) for one in silent]


def _verdict(gap: PairedGap, entrant: Entrant) -> str:
    if gap.p_value is None:
        return "the same" if gap.mean == 0 else "undecided"
    if gap.p_value < SIGNIFICANCE:
        return f"worse, {written_p_value(gap.p_value)}" if gap.mean > 0 else "undecided"
    return f"undecided (stopped: {entrant.left})" if entrant.left else "undecided"


def _standing(
    entrant: Entrant, split: Split, target: TargetKind, gap: PairedGap | None, verdict: str
) -> Standing:
    rows = entrant.was_asked
    if target == "class":
        right = entrant.answers[rows].argmax(dim=1) == split.targets.cpu()[rows]
        score = float(right.double().mean())
    else:
        score = 1 - entrant.mean_loss
    return Standing(
        name=entrant.name,
        loss=entrant.mean_loss,
        score=score,
        rows=len(rows),
        seconds=entrant.mean_seconds if entrant.seconds else math.nan,
        gap=None if gap is None else gap.mean,
        interval=None if gap is None else gap.interval,
        verdict=verdict,
    )


def score_name(target: TargetKind) -> str:
    """What `Standing.score` is."""
    return "accuracy" if target == "class" else "R^2"


def table_rows(standings: Sequence[Standing], target: TargetKind) -> list[dict[str, str]]:
    """As a person reads it."""
    return [
        {
            "model": one.name,
            "loss": _shown(one.loss, ".4g"),
            score_name(target): _shown(one.score, ".4f"),
            "gap to the best": "" if one.gap is None else f"{one.gap:+.2g}{_written(one.interval)}",
            "verdict": one.verdict,
            "rows": f"{one.rows:,}",
            "seconds per fit": _shown(one.seconds, ".1f"),
        }
        for one in standings
    ]


def _shown(value: float, form: str) -> str:
    """Nothing of a model that has answered nothing."""
    return "" if math.isnan(value) else format(value, form)


def _written(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" ({interval[0]:+.2g} to {interval[1]:+.2g})"


def to_json(standings: Sequence[Standing]) -> list[dict[str, Any]]:
    """As plain values; what is not a finite number is None."""
    return [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in plain(one).items()
        }
        for one in standings
    ]
