"""A trial hears of every epoch, and its pruner ends the training."""

import optuna
import pytest

import netwright as nw
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import train
from netwright.recipes.search.trial_pruning import PruneTrial


class AfterTwo(optuna.pruners.BasePruner):
    def prune(self, study: optuna.Study, trial: optuna.trial.FrozenTrial) -> bool:
        return len(trial.intermediate_values) >= 2


def trained(pruner: optuna.pruners.BasePruner, epochs: int = 5) -> tuple[PruneTrial, nw.Run]:
    callback = PruneTrial(optuna.create_study(pruner=pruner).ask(), "val/loss")
    prepared = prepare("mlp", "moons", n=60, hidden=(4,), epochs=epochs)
    return callback, train(prepared, extra=[callback], quiet=True, keep_folder=False)


def test_a_pruned_trial_stops_early_with_what_was_reported() -> None:
    callback, run = trained(AfterTwo())
    assert callback.is_pruned
    assert (run.results["epochs"], run.results["status"]) == (2, "pruned: other trials do better")
    reported = callback.trial.study.trials[0].intermediate_values
    assert reported == dict(enumerate(run.history.series("val/loss"), start=1))


def test_a_trial_that_is_left_alone_trains_as_if_nobody_watched() -> None:
    callback, run = trained(optuna.pruners.NopPruner())
    assert not callback.is_pruned
    alone = train(
        prepare("mlp", "moons", n=60, hidden=(4,), epochs=5), quiet=True, keep_folder=False
    )
    assert run.results["metrics"] == alone.results["metrics"]


@pytest.mark.parametrize("epochs", [1, 2])
def test_the_last_epoch_is_never_pruned_since_nothing_is_saved_by_it(epochs: int) -> None:
    assert not trained(AfterTwo(), epochs)[0].is_pruned
