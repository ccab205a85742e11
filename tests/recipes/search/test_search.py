"""A search finds what was planted, gives it again bit by bit, and refuses what it cannot do."""

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError, RunError
from netwright.recipes.plan.recipe_file import read_recipe_file
from netwright.recipes.search.plan import write_plan
from netwright.recipes.search.search import TRIALS, SearchRequest, resume_search, search, work
from netwright.recipes.search.space import Value
from netwright.recipes.search.trial_queue import TrialQueue, Tried
from tests.recipes.search.search_plans import plan

pytestmark = pytest.mark.usefixtures("undrawn")

SMALL: dict[str, Any] = {"n": 60, "hidden": (4,), "epochs": 3, "quiet": True}
LR = {"train.lr": "log:1e-3..1e-1"}


@pytest.fixture(autouse=True)
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take longer than these trials; `test_search_report` draws them."""
    monkeypatch.setattr("netwright.recipes.search.search.write_search_report", lambda study: None)


def distance(trial: object, settings: Mapping[str, Value]) -> Tried:
    """A bowl whose lowest point is lr = 0.01, dropout = 0.2."""
    lr, dropout = float(settings["train.lr"]), float(settings["model.dropout"])
    return Tried(value=(math.log10(lr) + 2) ** 2 + 9 * (dropout - 0.2) ** 2, notes={})


@pytest.mark.covers("hyperparameters")
@pytest.mark.parametrize(("sampler", "near"), [("random", 0.05), ("tpe", 0.02)])
def test_the_planted_optimum_of_a_response_surface_is_found(
    tmp_path: Path, sampler: str, near: float
) -> None:
    queue = TrialQueue(tmp_path, plan(trials=60, sampler=sampler))
    work(queue, distance)
    best = queue.study.best_trial
    assert best.value is not None
    assert best.value < near  # of values from 0 to 5.4
    assert math.log10(best.params["train.lr"]) == pytest.approx(-2, abs=0.25)
    assert best.params["model.dropout"] == pytest.approx(0.2, abs=0.08)


@pytest.mark.covers("hyperparameters")
def test_a_grid_finds_the_planted_cell(tmp_path: Path) -> None:
    space = ["train.lr=0.0001|0.001|0.01|0.1", "model.dropout=0|0.2|0.4"]
    queue = TrialQueue(tmp_path, plan(space, sampler="grid", trials=100))
    work(queue, distance)
    assert len(queue.study.trials) == 12
    assert queue.study.best_trial.params == {"train.lr": "0.01", "model.dropout": "0.2"}


def test_the_degree_that_made_the_data_is_found_by_training(tmp_path: Path) -> None:
    # A cubic without noise: lower degrees cannot follow it, and no other setting is better.
    inputs = np.linspace(-1, 1, 80)[:, None]
    study = search(
        "polynomial-regression",
        (inputs, (4 * inputs**3 - 3 * inputs)[:, 0]),
        space={"model.degree": "1..3"},
        sampler="grid",
        out=tmp_path / "s",
        quiet=True,
    )
    assert study.best.settings == {"model.degree": 3}
    values = {trial.settings["model.degree"]: trial.value or 0.0 for trial in study.trials}
    assert 50 * values[3] < min(values[1], values[2])
    assert study.plan.pruner == "none"
    run = study.fit_best(out=tmp_path / "run", quiet=True)
    assert run.evaluate(split="val")["loss"] == study.best_value


def test_best_yaml_trains_to_exactly_the_value_of_the_best_trial(tmp_path: Path) -> None:
    study = search("mlp", "moons", space=LR, trials=4, out=tmp_path / "s", **SMALL)
    recipe = read_recipe_file(tmp_path / "s/best.yaml")
    assert recipe["train"]["lr"] == study.best.settings["train.lr"]
    again = nw.fit(
        "mlp", "moons", lr=recipe["train"]["lr"], out=tmp_path / "run", **SMALL
    ).evaluate(split="val")
    assert again["loss"] == study.best_value
    assert {file.name for file in (tmp_path / "s").iterdir()} == {
        "best.yaml",
        "locks",
        "search.yaml",
        "study.journal",
        "trials.json",
    }


@pytest.mark.slow
def test_one_process_and_one_seed_give_the_same_trials(tmp_path: Path) -> None:
    made = [
        search(
            "mlp",
            "moons",
            space={**LR, "model.dropout": "0..0.6"},
            trials=7,
            seed=seed,
            out=tmp_path / name,
            **SMALL,
        ).trials
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    first, second, other = (
        [(trial.settings, trial.value, trial.state) for trial in trials] for trials in made
    )
    assert first == second
    assert first != other


@pytest.mark.slow
def test_pruned_trials_stop_early_and_count(tmp_path: Path) -> None:
    study = search(
        "mlp",
        "moons",
        space={"train.lr": "log:1e-7..1e-1"},
        trials=14,
        out=tmp_path / "s",
        **{**SMALL, "epochs": 6},
    )
    pruned = [trial for trial in study.trials if trial.state == "pruned"]
    assert len(study.trials) == 14
    assert pruned
    assert all(trial.epochs is not None and trial.epochs < 6 for trial in pruned)
    assert all(trial.value is None for trial in pruned)
    assert study.plan.pruner == "median"


def test_a_search_goes_on_where_it_ended_and_joins_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, loud = tmp_path / "a search", {**SMALL, "quiet": False}
    search("mlp", "moons", space=LR, trials=2, out=folder, **loud)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == (
        f"searching in {folder}; to add a worker from another terminal: "
        f"netwright search --resume '{folder}'"
    )
    assert [line[:13] for line in said[1:]] == ["1/2  trial 0:", "2/2  trial 1:"]
    joined = search("mlp", "moons", space=LR, trials=3, out=folder, **SMALL)
    assert len(joined.trials) == 3
    more = resume_search(folder, trials=4, quiet=True)
    assert [trial.number for trial in more.trials] == [0, 1, 2, 3]
    assert len(resume_search(folder, quiet=True).trials) == 4
    whole = search("mlp", "moons", space=LR, trials=4, out=tmp_path / "whole", **SMALL)
    assert [t.value for t in whole.trials] == [t.value for t in more.trials]


def test_a_search_that_a_server_keeps_names_it_as_a_shell_takes_it(tmp_path: Path) -> None:
    address = "postgresql://me@/trials?host=/run/postgresql"
    write_plan(tmp_path, plan(storage=address))
    with pytest.raises(ConfigError, match=f"give --storage '{re.escape(address)}'$"):
        resume_search(tmp_path, quiet=True)


def test_time_that_is_up_cuts_the_trial_and_queues_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = {**SMALL, "epochs": 200_000, "quiet": False}
    study = search("mlp", "moons", space=LR, max_time=0.5, out=tmp_path / "s", **long)
    assert [trial.state for trial in study.trials] == ["interrupted", "waiting"]
    assert "the time limit of 0.5 s; the interrupted trial is queued again; resume with: " in (
        capsys.readouterr().err
    )
    with pytest.raises(RunError, match="has no complete trial"):
        study.best  # noqa: B018 - the access is the test


def test_an_interrupted_trial_is_given_back_and_the_study_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from netwright.recipes.search import trial_training

    def interrupted(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trial_training, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search("mlp", "moons", space=LR, out=tmp_path / "s", **{**SMALL, "quiet": False})
    assert capsys.readouterr().err.splitlines()[-1] == (
        "the study is saved, and the current trial is queued again; resume with: netwright search "
        f"--resume {tmp_path}/s"
    )
    monkeypatch.undo()
    study = resume_search(tmp_path / "s", trials=1, quiet=True)
    assert [trial.state for trial in study.trials] == ["interrupted", "complete"]
    assert study.trials[0].settings == study.trials[1].settings


def test_the_test_rows_have_no_part_in_it(tmp_path: Path) -> None:
    data = nw.data.load("moons", n=60)
    assert data.test is not None
    turned = replace(data, test=replace(data.test, targets=1 - data.test.targets))
    small = {name: value for name, value in SMALL.items() if name != "n"}
    first, second = (
        search("mlp", rows, space=LR, trials=2, out=tmp_path / name, **small)
        for name, rows in (("a", data), ("b", turned))
    )
    assert [t.value for t in first.trials] == [t.value for t in second.trials]
    assert first.plan == second.plan


def test_what_cannot_be_searched_is_refused_before_a_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("mlp", {"space": {}}, "the search space is empty"),
        (
            "mlp",
            {"metric": "test/accuracy"},
            "a search optimises a validation metric: metric must be like val/loss, got "
            "'test/accuracy'",
        ),
        (
            "mlp",
            {"metric": "val/f1", "pruner": "median"},
            "val/f1 is not measured after every epoch, as val/accuracy and val/loss are: "
            "pruner must be none, got 'median'",
        ),
        (
            "perceptron",
            {"space": {"model.epochs": "1..9"}, "pruner": "hyperband"},
            "a model with its own learning rule has no epochs to prune by: "
            "pruner must be none, got 'hyperband'",
        ),
        (
            "mlp",
            {"space": {"train.batch_size": "8|64"}},
            "batch_size 64 is more than the 42 training rows of moons; use 42 or fewer",
        ),
        ("mlp", {"space": LR, "max_time": -1.0}, "max_time must be positive, got -1.0"),
        (
            "mlp",
            {"space": LR, "max_time": "soon"},
            "max_time must be like 90s, 10m or 2h, got 'soon'",
        ),
        (
            "mlp",
            {"space": LR, "max_time": [1]},
            "max_time must be seconds, or like 90s, 10m or 2h, got [1]",
        ),
        (
            "mlp",
            {"space": LR, "metric": None},
            "a search optimises a validation metric: metric must be like val/loss, got None",
        ),
        (
            "boosting",
            {"space": {"train.lr": "0.1..0.2"}},
            "boosting does not use lr: remove train.lr from the search space",
        ),
    ]
    for model, settings, sentence in cases:
        with pytest.raises(ConfigError) as refused:
            search(model, "moons", n=60, out=tmp_path / "s", quiet=True, **settings)
        assert str(refused.value) == sentence
    with pytest.raises(DataError, match=r"^a search needs a val split, moons has none$"):
        search("mlp", "moons", val_size=0.0, out=tmp_path / "s", quiet=True)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"^netwright search needs optuna: pip install "):
        search("mlp", "moons", out=tmp_path / "s", quiet=True)
    assert not (tmp_path / "s").exists()


def test_a_metric_that_epochs_do_not_show_is_searched_without_pruning(tmp_path: Path) -> None:
    study = search("mlp", "moons", space=LR, metric="val/f1", trials=1, out=tmp_path / "s", **SMALL)
    assert (study.plan.pruner, study.plan.is_lower_better) == ("none", False)
    assert SearchRequest().trials == TRIALS == 20


def test_settings_are_trained_once_and_the_end_of_a_space_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loud = {**SMALL, "quiet": False}
    space = "train.lr=0.01|0.1|0.2"
    study = search(
        "mlp", "moons", space=space, trials=9, max_time="10m", out=tmp_path / "s", **loud
    )
    assert sorted(str(trial.settings["train.lr"]) for trial in study.trials) == [
        "0.01",
        "0.1",
        "0.2",
    ]
    assert capsys.readouterr().err.splitlines()[-1] == (
        "the search space is exhausted: it has 3 combinations, fewer than 9 trials"
    )
    search("mlp", "moons", space=space, trials=3, out=tmp_path / "s", **loud)
    assert "exhausted" not in capsys.readouterr().err


def test_members_that_learn_by_gradients_have_their_settings_searched(tmp_path: Path) -> None:
    members: dict[str, Any] = {"of": "logistic", "members": 2, "n": 60, "epochs": 1, "quiet": True}
    study = search("bagging", "moons", space=LR, trials=1, out=tmp_path / "s", **members)
    assert study.best.number == 0


def test_a_search_on_what_came_from_python_names_no_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = np.linspace(-1, 1, 40)[:, None]
    study = search(
        "polynomial-regression",
        (inputs, inputs[:, 0] ** 2),
        space={"model.degree": "1..2"},
        trials=2,
        max_time=1e-9,
        out=tmp_path / "s",
    )
    assert capsys.readouterr().err.splitlines() == [
        f"searching in {tmp_path}/s",
        "the time limit of 1e-09 s; the interrupted trial is queued again; resume with: the same "
        f"nw.search, out='{tmp_path}/s'",
    ]
    assert study.command == "study.fit_best()"
