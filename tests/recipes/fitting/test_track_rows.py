"""Trackers are told each row once, whatever happens to a run, and never end it."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.fitting.track_rows import TrackRows, check_untracked
from netwright.train.callback import Callback
from netwright.train.trackers.catalog import TRACKERS
from netwright.train.watching.history import Row
from tests.train.trackers.noting_tracker import NotingTracker

SETTINGS: dict[str, Any] = {"quiet": True, "log_every": 1, "track": "tensorboard"}


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> list[NotingTracker]:
    """Two names of trackers that note, and what was built of them."""
    for name in ("tensorboard", "wandb"):
        home = "tests.train.trackers.noting_tracker:NotingTracker"
        monkeypatch.setitem(TRACKERS._rows, name, home)
    monkeypatch.setattr(NotingTracker, "all", [])
    return NotingTracker.all


def row(step: int) -> Row:
    return Row(step=step, epoch=0, samples=step, time=2.0, split="train", name="loss", value=1.0)


def test_a_run_tells_its_settings_its_rows_and_its_measures(
    noted: list[NotingTracker], tmp_path: Path
) -> None:
    run = nw.fit("mlp", "iris", epochs=2, out=tmp_path / "run", **SETTINGS)
    (tracker,) = noted
    assert tracker.folder == tmp_path / "run" / "tracking" / "tensorboard"
    assert tracker.rows == run.history.rows
    assert {"train/loss", "val/loss", "step/lr"} <= {row.key for row in tracker.rows}
    assert tracker.metrics == run.results["metrics"]
    assert tracker.step == run.results["steps"]
    assert tracker.run.name == "run"
    assert tracker.run.settings["train.epochs"] == 2
    assert tracker.run.settings["model.name"] == "mlp"
    assert tracker.closed == 1


def test_a_resumed_run_has_each_row_once_and_its_id_still(
    noted: list[NotingTracker], tmp_path: Path
) -> None:
    whole: dict[str, Any] = {"epochs": 4, "out": tmp_path / "run", "seed": 1}
    nw.fit("mlp", "iris", **whole, max_steps=6, **SETTINGS)
    run = nw.fit("mlp", "iris", **whole, resume="auto", **SETTINGS)
    first, second = noted
    assert second.rows == run.history.rows
    assert len(second.rows) > len(first.rows)
    assert first.run.id == second.run.id
    assert len(first.run.id) == 16


def test_a_model_with_a_rule_of_its_own_tells_its_rows_at_the_end(
    noted: list[NotingTracker], tmp_path: Path
) -> None:
    run = nw.fit("perceptron", "iris", out=tmp_path / "run", quiet=True, track=["tensorboard"])
    (tracker,) = noted
    assert tracker.rows == run.history.rows != []
    assert tracker.metrics == run.results["metrics"]


def test_a_run_that_was_set_back_is_told_anew(noted: list[NotingTracker], tmp_path: Path) -> None:
    tracking = TrackRows(tmp_path, ["tensorboard", "wandb", "wandb"], {})
    tracking.rewrite([row(1), row(2)])
    tracking.append([row(3)])
    tracking.rewrite([row(1)])
    tracking.append([row(2)])
    assert [tracker.closed for tracker in noted] == [1, 1, 0, 0]
    assert [tracker.folder.name for tracker in noted] == ["tensorboard", "wandb"] * 2
    for tracker in noted[2:]:
        assert tracker.rows == [row(1), row(2)]


@pytest.mark.parametrize("call", ["init", "write", "finish"])
def test_a_tracker_that_fails_is_dropped_and_training_goes_on(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(NotingTracker, "failing", call)
    run = nw.fit("mlp", "iris", epochs=1, out=tmp_path / "run", **SETTINGS)
    assert run.results["finished"]
    told = capsys.readouterr().err
    assert told.count("tracking by tensorboard has ended, training goes on") == 1
    assert f"no {call} today" in told
    assert "and more" not in told


def test_each_tracker_that_fails_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(NotingTracker, "failing", "init")
    tracking = TrackRows(tmp_path, ["tensorboard", "wandb"], {})
    tracking.rewrite([row(1)])
    tracking.rewrite([row(1)])
    assert capsys.readouterr().err.count("no init today") == 2
    tracking.finish([row(1)], {"loss": 1.0})  # to nobody


def test_an_error_of_the_run_closes_its_trackers(
    noted: list[NotingTracker], tmp_path: Path
) -> None:
    class Fail(Callback):
        def on_epoch_end(self, state: Any) -> None:
            raise KeyError("mine")

    with pytest.raises(KeyError):
        nw.fit("mlp", "iris", epochs=1, out=tmp_path / "run", callbacks=[Fail()], **SETTINGS)
    assert [tracker.closed for tracker in noted] == [1]


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    (elsewhere / "tensorboard").mkdir(parents=True)
    (elsewhere / "tensorboard" / "precious").touch()
    (run / "tracking").symlink_to(elsewhere)
    with pytest.raises(DataError):
        TrackRows(run, ["tensorboard"], {}).rewrite([])
    assert (elsewhere / "tensorboard" / "precious").exists()


def test_an_id_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tracking").mkdir()
    (tmp_path / "tracking" / "id").write_text("../../x")
    with pytest.raises(
        DataError, match=r"tracking/id must hold letters and digits, got '../../x'$"
    ):
        TrackRows(tmp_path, ["tensorboard"], {}).rewrite([])


def test_a_run_without_a_folder_cannot_be_tracked() -> None:
    with pytest.raises(ConfigError, match=r"without a run folder: drop the argument 'track'$"):
        nw.fit("mlp", "iris", save=False, track="tensorboard")


def test_a_missing_package_is_told_before_a_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NotingTracker, "package", "no_such_package")
    with pytest.raises(ConfigError, match=r"needs the package no_such_package"):
        nw.fit("mlp", "iris", epochs=1, out=tmp_path / "run", **SETTINGS)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["track", "train.track"])
def test_trackers_without_a_run_folder_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="a run folder, which compare does not leave"):
        check_untracked({name: "tensorboard"}, "compare")
    check_untracked({"lr": 0.1, "track": ()}, "compare")


def test_an_estimator_with_a_run_folder_is_tracked(
    noted: list[NotingTracker], tmp_path: Path
) -> None:
    estimator = nw.NetClassifier("softmax", epochs=1, device="cpu", run_folder=tmp_path / "run")
    name = next(iter(TRACKERS))
    estimator.set_params(track=name).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    (tracker,) = noted
    assert tracker.folder == tmp_path / "run" / "tracking" / name
