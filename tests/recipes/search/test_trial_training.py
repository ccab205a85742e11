"""One trial: its value is that of the validation rows, whatever goes wrong is said."""

import time
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

import netwright as nw
from netwright.recipes.plan.sources import load_configured
from netwright.recipes.search.space import apply
from netwright.recipes.search.trial_queue import Tried
from netwright.recipes.search.trial_training import TrialTraining
from tests.recipes.search.search_plans import plan


def training(**settings: object) -> TrialTraining:
    planned = plan()
    data = replace(load_configured(planned.recipe), test=None)
    return TrialTraining(plan=planned, data=data, **settings)  # type: ignore[arg-type]


def tried(settings: dict[str, float | str], made: TrialTraining) -> Tried | None:
    return made(optuna.create_study().ask(), settings)


def test_the_value_is_the_metric_of_the_validation_rows(tmp_path: Path) -> None:
    found = tried({"train.lr": 0.02}, training())
    run = nw.fit("mlp", "moons", n=60, hidden=(4,), epochs=2, lr=0.02, out=tmp_path, quiet=True)
    assert found is not None
    assert found.value == run.evaluate(split="val")["loss"]  # bit for bit: the same training
    assert found.notes["epochs"] == 2


def test_settings_that_cannot_be_trained_end_the_trial_with_a_reason() -> None:
    found = tried({"train.batch_size": 5000}, training())
    assert found is not None
    assert found.value is None
    assert found.notes["why"] == (
        "not trained: batch_size 5000 is more than the 42 training rows of moons; use 42 or fewer"
    )
    wild = tried({"train.lr": 1e30, "train.optimizer": "sgd"}, training())
    assert wild is not None
    assert wild.value is None
    assert "not trained: " in wild.notes["why"]


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError])
def test_a_model_that_has_no_room_ends_the_trial_and_not_the_search(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*words: object, **more: object) -> None:
        raise kind("out of memory: tried to allocate 2 TB\nand much more")

    monkeypatch.setattr("netwright.recipes.search.trial_training.train", full)
    found = tried({}, training())
    assert found is not None
    assert found.value is None
    assert found.notes["why"] == "not trained: out of memory: tried to allocate 2 TB"


def test_a_metric_without_a_value_is_said() -> None:
    made = training()
    made = replace(made, plan=replace(made.plan, metric="val/top_5_accuracy"))
    found = tried({}, made)
    assert found is not None
    assert (found.value, found.notes["why"]) == (None, "val/top_5_accuracy has no value")


def test_the_deadline_cuts_a_trial_short_and_it_has_no_value() -> None:
    assert tried({"train.epochs": 100_000}, training(deadline=time.monotonic() + 0.3)) is None


def test_a_limit_of_the_recipe_itself_is_the_recipe_s_own_affair() -> None:
    made = training(deadline=time.monotonic() + 600)
    found = tried({"train.epochs": 100_000, "train.max_time": 0.2}, made)
    assert found is not None
    assert found.value is not None
    kept = apply(made.plan.recipe, {"train.max_time": 0.2})
    assert made._within_time(kept).train.max_time == 0.2
