"""Models with a rule of their own: pulled step by step, timed, stopped and checked."""

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import netwright as nw
from netwright.core.errors import RunError
from netwright.core.learner import Examples, Learner
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data, Split
from netwright.recipes.fitting.fit import put_together
from netwright.recipes.fitting.learner_fit import learner_fit
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import RunContext
from netwright.recipes.plan.recipe import Recipe
from netwright.train.settings import TrainConfig
from netwright.train.tasks.task import Task
from netwright.train.watching.history import read_history


class Counter(nn.Linear, Learner):
    """Learns nothing, in as many steps as it is told."""

    def __init__(self, values: list[float], *, signal_at: int | None = None) -> None:
        super().__init__(2, 2)
        self.values, self.signal_at = values, signal_at

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        for step, value in enumerate(self.values):
            if step == self.signal_at:
                os.kill(os.getpid(), signal.SIGINT)
            yield {"loss": value, "seed": float(seed)}


@pytest.fixture(scope="module")
def moons() -> Data:
    source = SOURCES.load("moons")
    return source.load(source.config())


def learn(
    model: Counter, data: Data, *, seed: int = 0, folder: Path | None = None, **settings: Any
) -> Outcome:
    recipe = Recipe(
        model="", model_settings=None, data="", data_settings=None, train=TrainConfig(**settings)
    )
    prepared = put_together(replace(recipe, seed=seed), data, model)
    return learner_fit(prepared, RunContext(folder=folder, quiet=True))


def test_every_step_is_a_row(moons: Data, tmp_path: Path) -> None:
    outcome = learn(Counter([3.0, 2.0]), moons, seed=7, folder=tmp_path)
    series = outcome.history.as_dict()
    assert (series["train/loss"], series["train/seed"]) == ([3.0, 2.0], [7.0, 7.0])
    assert [len(series[key]) for key in ("train/accuracy", "val/loss", "val/accuracy")] == [1] * 3
    assert (outcome.status, outcome.epochs, outcome.exit_code) == ("done", 2, 0)
    assert read_history(tmp_path / "metrics.jsonl").rows == outcome.history.rows


def test_time_limit_and_signal_end_it_after_a_step(moons: Data) -> None:
    endless = [1.0] * 1000
    limited = learn(Counter(endless), moons, max_time=1e-9)
    assert (limited.epochs, limited.status) == (1, "the time limit of 1e-09 s")
    stopped = learn(Counter(endless, signal_at=4), moons)
    assert (stopped.epochs, stopped.exit_code) == (5, 130)
    assert stopped.status == "interrupted by SIGINT"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_fails_the_run(moons: Data, value: float) -> None:
    sentence = f"loss is not a finite number at step 2, got {value}"
    with pytest.raises(RunError, match=re.escape(sentence)):
        learn(Counter([1.0, value]), moons)


def test_closed_form_through_the_ordinary_door(tmp_path: Path) -> None:
    run = nw.fit("least-squares", "line", out=tmp_path / "run", quiet=True)
    assert run.results["status"] == "done"
    assert run.results["metrics"]["rmse"] < run.results["baseline"]["rmse"] / 2
    again = nw.open_run(tmp_path / "run")
    assert again.evaluate() == run.evaluate() == run.results["metrics"]


def test_settings_of_training_that_have_no_part_are_named(
    moons: Data, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"lr": 0.1, "patience": 3, "max_time": 60.0, "device": "cpu"}
    nw.fit(Counter([1.0]), moons, out=tmp_path / "a", epochs=4, **settings)
    said = capsys.readouterr().err
    assert "note: Counter has its own learning rule and does not use epochs, lr, patience\n" in said
    nw.fit(Counter([1.0]), moons, out=tmp_path / "b", max_time=60.0)
    assert "without" not in capsys.readouterr().err


class Listener(Counter):
    """Keeps what it was shown, and has something to say of it."""

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        self.seen = data
        yield {"loss": 1.0}

    @property
    def kept_step(self) -> int:
        return 7

    @property
    def verdict(self) -> str:
        return "nothing was learned"


class Slow(Counter):
    """Knows how long it takes."""

    def forewarning(self, rows: int) -> str:
        return f"{rows} rows take minutes"


def test_what_takes_long_is_told_before_it_begins(
    moons: Data, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nw.fit(Slow([1.0]), moons, out=tmp_path / "told")
    assert f"note: {len(moons.train)} rows take minutes\n" in capsys.readouterr().err
    nw.fit(Slow([1.0]), moons, out=tmp_path / "quiet", quiet=True)
    assert "minutes" not in capsys.readouterr().err


def test_rows_of_weight_zero_are_not_shown(moons: Data) -> None:
    weights = torch.ones(len(moons.train))
    weights[::3] = 0
    model = Listener([1.0])
    learn(model, replace(moons, train=replace(moons.train, weights=weights)), device="cpu")
    assert torch.equal(model.seen.inputs, moons.train.inputs[weights > 0])
    learn(model, moons, device="cpu")
    assert model.seen.inputs is moons.train.inputs


def test_class_weights_are_the_weights_of_rows(moons: Data, tmp_path: Path) -> None:
    few = moons.train.take(torch.cat([torch.where(moons.train.targets == 0)[0], torch.arange(40)]))
    data = replace(moons, train=few)
    model = Listener([1.0])
    nw.fit(model, data, out=tmp_path / "run", class_weight="balanced", quiet=True)
    assert model.seen.weights is not None
    totals = [model.seen.weights[few.targets == c].sum().item() for c in (0, 1)]
    assert totals[0] == pytest.approx(totals[1])
    assert (few.targets == 0).sum() > (few.targets == 1).sum()


def test_the_verdict_and_the_step_that_was_kept_are_told(
    moons: Data, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = nw.fit(Listener([1.0]), moons, out=tmp_path / "run")
    assert "1 step of its own learning rule: done; nothing was learned\n" in capsys.readouterr().err
    assert run.results["best_epoch"] == 7


def test_of_many_training_rows_a_part_is_measured(
    moons: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr("netwright.recipes.fitting.learner_fit.MOST_MEASURED", 50)

    def measure(model: nn.Module, split: Split, task: Task) -> dict[str, float]:
        seen.append(len(split))
        return {"loss": 0.0}

    monkeypatch.setattr("netwright.recipes.fitting.learner_fit.measure_quickly", measure)
    learn(Counter([1.0]), moons)
    assert len(moons.train) > 50
    assert seen == [50, len(moons.split("val"))]
