"""What came of one trial of a search, in plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from netwright.core.errors import DataError
from netwright.recipes.search.space import Value

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

State = Literal["complete", "pruned", "interrupted", "running", "waiting"]
STATES: Mapping[str, State] = {
    "COMPLETE": "complete",
    "PRUNED": "pruned",
    "FAIL": "interrupted",
    "RUNNING": "running",
    "WAITING": "waiting",
}


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """One trial.

    Args:
        number: given by the study, from 0.
        state: "pruned" also where it could not be trained; "interrupted" where it was queued again.
        value: of the metric, on the validation rows; None unless it is complete.
        settings: what was tried.
        epochs: that were trained.
        seconds: that it took.
        why: it is not complete; empty where it is.
        process: who made it.
    """

    number: int
    state: State
    value: float | None
    settings: Mapping[str, Value]
    epochs: int | None
    seconds: float | None
    why: str
    process: str


def read_trial(trial: "FrozenTrial") -> TrialResult:
    """A trial as the study holds it; values that no search writes down are refused."""
    state, noted = STATES[trial.state.name], trial.user_attrs
    result = TrialResult(
        number=trial.number,
        state=state,
        value=trial.value if state == "complete" else None,
        settings=dict(trial.params),
        epochs=noted.get("epochs"),
        seconds=noted.get("seconds"),
        why=noted.get("why", ""),
        process=noted.get("process", ""),
    )
    numbers = (result.value, result.epochs, result.seconds)
    is_ours = all(number is None or type(number) in {int, float} for number in numbers)
    if not (is_ours and isinstance(result.why, str) and isinstance(result.process, str)):
        raise DataError(f"trial {trial.number} has a result that no search writes: {result!r:.200}")
    return result
