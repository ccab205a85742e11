"""The runs of a folder: found, told by their state, and never trusted."""

import json
import os
from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.files.folder_lock import FolderLock
from netwright.recipes.saved import run_list
from netwright.recipes.saved.run_list import headline_of, list_runs, look_at_run, run_names


def begun(place: Path, config: str = "model: {name: mlp}\ndata: {path: /x/y.csv}\n") -> Path:
    place.mkdir(parents=True)
    (place / "config.yaml").write_text(config)
    (place / "env.json").write_text("{}")
    return place


def test_a_finished_run_is_told_with_its_headline_beside_the_baseline(moons_run: nw.Run) -> None:
    folder = moons_run.folder
    assert folder is not None
    (run,) = [one for one in list_runs(folder.parent) if one.name == folder.name]
    assert (run.state, run.model, run.data, run.seed) == ("finished", "mlp", "moons", 0)
    assert (run.metric, run.better, run.epochs) == ("accuracy", "higher", 3)
    assert run.value == moons_run.results["metrics"]["accuracy"]
    assert run.baseline == moons_run.results["baseline"]["accuracy"]


def test_the_state_follows_the_lock_and_the_results(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    assert look_at_run(tmp_path, "a").state == "interrupted"
    with FolderLock(run):
        assert look_at_run(tmp_path, "a").state == "training"
    results = {"status": "x", "split": "val", "metrics": {"loss": 1.0}, "baseline": {}}
    for finished, state in ((False, "stopped"), (True, "finished")):
        (run / "results.json").write_text(json.dumps({**results, "finished": finished}))
        assert look_at_run(tmp_path, "a").state == state
    told = look_at_run(tmp_path, "a")
    assert (told.metric, told.value, told.baseline) == ("loss", 1.0, None)
    assert told.data == "y.csv"  # where it lies is not told


def test_runs_are_found_three_levels_deep_and_not_behind_links(tmp_path: Path) -> None:
    for name in ("a", "b/c", "b/d/e", "b/d/f/g", ".bin/h", "a/inner"):
        begun(tmp_path / name)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    assert run_names(tmp_path) == ["a", "b/c", "b/d/e"]


def test_many_files_beside_runs_hide_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_list, "MOST_FOLDERS", 4)
    begun(tmp_path / "runs" / "one")
    (tmp_path / "data").mkdir()
    for number in range(30):
        (tmp_path / "data" / f"{number}.png").touch()
    assert run_names(tmp_path) == ["runs/one"]
    for number in range(5):
        (tmp_path / "data" / str(number)).mkdir()
    assert run_names(tmp_path) == []  # and the search has an end


def test_the_newest_comes_first(tmp_path: Path) -> None:
    for name, time in (("a", 1), ("b", 3), ("c", 2)):
        os.utime(begun(tmp_path / name) / "config.yaml", (time, time))
    assert [run.name for run in list_runs(tmp_path)] == ["b", "c", "a"]


def test_what_cannot_be_read_is_told_and_hides_no_other(tmp_path: Path) -> None:
    begun(tmp_path / "good")
    begun(tmp_path / "bad", "[: no yaml")
    run = begun(tmp_path / "worse")
    (run / "results.json").write_text("[]")
    states = {run.name: run.state for run in list_runs(tmp_path)}
    assert states == {"good": "interrupted", "bad": "unreadable", "worse": "unreadable"}
    assert "does not contain the results of a run" in look_at_run(tmp_path, "worse").trouble
    for config in ("model: 3\ndata: []\n", "seed: x\n", "{}"):
        (tmp_path / "good" / "config.yaml").write_text(config)
        assert look_at_run(tmp_path, "good").seed == 0


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be looked through: No such file"):
        list_runs(tmp_path / "nowhere")


def test_the_headline_is_what_the_guess_has_too() -> None:
    both = {"metrics": {"loss": 1, "rmse": 2, "r2": 3}, "baseline": {"r2": 0, "rmse": 4}}
    assert headline_of(both) == "rmse"
    assert headline_of({"metrics": {"loss": 1, "perplexity": 2}, "baseline": {}}) == "perplexity"
    assert headline_of({"metrics": {}, "baseline": {}}) == ""
