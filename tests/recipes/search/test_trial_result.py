"""A trial in plain values."""

import optuna
import pytest

from netwright.core.errors import DataError
from netwright.recipes.search.trial_result import TrialResult, read_trial
from tests.repetition import for_each


def test_states_have_plain_names_and_only_complete_trials_a_value() -> None:
    study = optuna.create_study()
    trial = study.ask()
    trial.suggest_float("train.lr", 0.0, 1.0)
    trial.set_user_attr("epochs", 3)
    trial.set_user_attr("process", "12-ab")
    study.tell(trial, 0.25)
    stopped = study.ask()
    stopped.report(9.0, 1)
    stopped.set_user_attr("why", "pruned: other trials do better")
    study.tell(stopped, state=optuna.trial.TrialState.PRUNED)
    study.tell(study.ask(), state=optuna.trial.TrialState.FAIL)
    study.ask()
    study.enqueue_trial({"train.lr": 0.5})
    first, second, third, *rest = map(read_trial, study.trials)
    assert first == TrialResult(
        number=0,
        state="complete",
        value=0.25,
        settings=trial.params,
        epochs=3,
        seconds=None,
        why="",
        process="12-ab",
    )
    assert (second.state, second.value, second.why[:6]) == ("pruned", None, "pruned")
    assert third.state == "interrupted"
    assert [trial.state for trial in rest] == ["running", "waiting"]


@for_each(("name", "value"), [("epochs", "3"), ("seconds", [1.5]), ("why", None), ("process", 7)])
def test_what_no_search_writes_down_is_refused(name: str, value: object) -> None:
    study = optuna.create_study()
    trial = study.ask()
    trial.set_user_attr(name, value)
    study.tell(trial, 0.25)
    with pytest.raises(DataError, match=r"^trial 0 has a result that no search writes"):
        read_trial(study.trials[0])
