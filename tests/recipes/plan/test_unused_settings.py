"""Settings that a rule of its own does not heed: named with those that it does, also unwatched."""

import json
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.config import field_names
from netwright.core.errors import ConfigError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import put_together
from netwright.recipes.plan.recipe import Recipe, parse_recipe
from netwright.recipes.plan.unused_settings import (
    SAYS_MORE_OF,
    idle_notes,
    unused_notes,
    unused_settings,
)
from netwright.train.settings import TrainConfig


@pytest.fixture(scope="module")
def diabetes() -> Data:
    source = SOURCES.load("diabetes")
    return source.load(source.config())


def recipe_of(model: str, settings: dict[str, Any], **train: Any) -> Recipe:
    return parse_recipe(
        {"model": {"name": model, **settings}, "data": {"name": "diabetes"}, "train": train}
    )


def notes_of(data: Data, model: str, settings: dict[str, Any], **train: Any) -> tuple[str, ...]:
    prepared = put_together(recipe_of(model, settings, **train), data)
    return unused_notes(prepared.recipe, prepared.model, prepared.unused)


def test_only_what_was_given_and_has_no_part_is_named() -> None:
    assert unused_settings(TrainConfig()) == ()
    heeded: dict[str, Any] = {"max_time": 9.0, "device": "cpu", "doctor": False, "workers": 2}
    assert unused_settings(TrainConfig(**heeded, threshold="f1", class_weight="balanced")) == ()
    given = TrainConfig(**heeded, optimizer="adam", schedule="cosine", weight_decay=0.1)
    assert set(unused_settings(given)) == {"optimizer", "schedule", "weight_decay"}


def test_the_note_names_what_the_model_is_set_by(diabetes: Data) -> None:
    said = "has its own learning rule and does not use"
    assert notes_of(diabetes, "ridge", {}, weight_decay=0.1) == (
        f"ridge {said} weight_decay: it is set by model.l2",
    )
    assert notes_of(diabetes, "gaussian-regression", {}, lr=0.1) == (
        f"gaussian-regression {said} lr: it has no settings",
    )
    of_trees = {"of": "decision-tree", "members": 2}
    assert notes_of(diabetes, "bagging", of_trees, epochs=3) == (
        f"decision-tree {said} epochs: bagging is set by model.of, model.settings, model.members, "
        f"model.sample",
    )
    two = {"of": ["ridge", "least-squares"], "folds": 2}
    (note,) = notes_of(diabetes, "stacking", two, lr=0.1)
    assert note.startswith("ridge, least-squares have their own learning rules and do not use lr: ")


def test_what_is_heeded_needs_no_note(diabetes: Data) -> None:
    assert notes_of(diabetes, "ridge", {}, l2=0.1, max_time=60.0) == ()
    assert notes_of(diabetes, "mlp", {"hidden": [2]}, weight_decay=0.1) == ()
    mixed = {"of": ["mlp", "ridge"], "folds": 2, "settings": {"mlp": {"hidden": [2]}}}
    assert notes_of(diabetes, "stacking", mixed, weight_decay=0.1) == ()


def test_quiet_runs_keep_the_note_in_their_results(tmp_path: Path) -> None:
    """Also where the recipe of such a run is trained again: it lists all settings."""
    wanted = ["ridge has its own learning rule and does not use lr: it is set by model.l2"]
    run = nw.fit("ridge", "diabetes", lr=0.1, out=tmp_path / "run", quiet=True)
    assert run.results["notes"] == wanted
    assert json.loads((tmp_path / "run" / "results.json").read_text())["notes"] == wanted
    again = nw.fit(nw.load_recipe(tmp_path / "run" / "config.yaml"), save=False, quiet=True)
    assert again.results["notes"] == wanted
    plain = nw.fit("ridge", "diabetes", save=False, quiet=True)
    assert plain.results["notes"] == []
    ensemble = nw.fit("bagging", "diabetes", of="ridge", members=2, lr=0.1, save=False, quiet=True)
    assert [note[:35] for note in ensemble.results["notes"]].count(wanted[0][:35]) == 1


def test_a_setting_without_the_one_that_it_says_more_of_is_idle() -> None:
    assert {*SAYS_MORE_OF, *SAYS_MORE_OF.values()} <= set(field_names(TrainConfig))
    assert idle_notes(TrainConfig(), updates=1) == ()
    alone = TrainConfig(smooth_over="others", average_decay=0.9)
    assert idle_notes(alone, updates=1) == (
        "smooth_over has no effect without label_smoothing",
        "average_decay has no effect without average",
    )
    beside = TrainConfig(label_smoothing=0.1, average="exponential", average_decay=0.9)
    assert idle_notes(beside, updates=1) == ()


def test_a_warm_up_that_outlasts_the_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert idle_notes(TrainConfig(warmup=9), updates=9) == ()
    small: dict[str, Any] = {"hidden": (2,), "save": False, "warmup": 7}
    note = "the warm-up of 7 updates is longer than the run, 6: the learning rate does not get to "
    run = nw.fit("mlp", "moons", epochs=9, max_steps=6, **small)
    assert f"note: {note}" in capsys.readouterr().err
    (kept,) = run.results["notes"]
    assert kept.startswith(note)
    assert nw.fit("mlp", "moons", epochs=1, quiet=True, **small).results["notes"] == []


def test_an_estimator_which_prints_nothing_warns(diabetes: Data) -> None:
    rows = diabetes.train.inputs[:60].numpy(), diabetes.train.targets[:60, 0].numpy()
    with pytest.warns(UserWarning, match=r"not use weight_decay: it is set by model\.l2$"):
        nw.NetRegressor("ridge", weight_decay=0.1, random_state=0).fit(*rows)
    nw.NetRegressor("ridge", l2=0.1, random_state=0).fit(*rows)  # a warning would be an error


def test_callbacks_that_nothing_would_call_are_refused(tmp_path: Path) -> None:
    calls = {"on_epoch_end": lambda state: None}
    for model in ("ridge", "random-forest"):
        with pytest.raises(ConfigError, match=f"^{model} has .* does not call callbacks: leave"):
            nw.fit(model, "diabetes", callbacks=calls, out=tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()
