"""Stopping a run and moving it to the bin."""

import os
import signal
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.core.files.folder_lock import FolderLock
from netwright.recipes.saved.run_control import find_listed, move_to_bin, stop_run
from tests.recipes.saved.test_run_list import begun


def test_the_owner_of_a_run_is_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, sent = begun(tmp_path / "a"), []
    with pytest.raises(ConfigError, match="a is not being trained"):
        stop_run(run)
    with FolderLock(run):
        monkeypatch.setattr(os, "kill", lambda *signal: sent.append(signal))
        stop_run(run)
    assert sent[-1] == (os.getpid(), signal.SIGTERM)


def test_a_run_in_the_bin_is_whole_and_no_longer_listed(tmp_path: Path) -> None:
    begun(tmp_path / "runs" / "a")
    place = move_to_bin(tmp_path, "runs/a")
    assert place.parent == tmp_path / ".bin" and (place / "config.yaml").is_file()
    assert not (tmp_path / "runs" / "a").exists()
    with pytest.raises(ConfigError, match="there is no run 'runs/a'"):
        move_to_bin(tmp_path, "runs/a")


def test_a_run_that_is_trained_is_not_moved(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    with FolderLock(run), pytest.raises(ConfigError, match="is being trained: stop it first"):
        move_to_bin(tmp_path, "a")
    assert run.is_dir()


def test_a_folder_whose_files_are_no_runs_is_not_moved(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "config.yaml").write_text("[: no recipe")
    (project / "env.json").write_text("{}")
    with pytest.raises(ConfigError, match="project is not moved, since it may be no run: "):
        move_to_bin(tmp_path, "project")
    assert (project / "src").is_dir()


def test_only_names_of_the_list_lead_anywhere(tmp_path: Path) -> None:
    begun(tmp_path / "in" / "a")
    begun(tmp_path / "out")
    for name in ("../out", "a/../a", "", ".", str(tmp_path / "in" / "a"), "a\0"):
        with pytest.raises(ConfigError, match="there is no run"):
            find_listed(tmp_path / "in", name)
    assert find_listed(tmp_path / "in", "a") == tmp_path / "in" / "a"
