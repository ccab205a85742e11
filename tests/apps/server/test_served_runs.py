"""Runs by name: read again when their folder changes, and kept where it cannot be read."""

import shutil
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.run_description import describe_run
from netwright.apps.server.served_runs import ServedRuns, Stamp, named_folders
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError, NetwrightError


@pytest.fixture
def folder(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of a run that may be changed."""
    return Path(shutil.copytree(folders["things"], tmp_path / "run"))


def test_a_name_that_is_not_served_is_refused_with_the_nearest(folder: Path) -> None:
    runs = ServedRuns({"things": folder}, Measurements())
    assert runs["things"].folder == folder
    assert [one.name for one in runs] == ["things"]
    with pytest.raises(RefusalError, match="there is no run 'thing'; did you mean 'things'") as got:
        runs["thing"]
    assert got.value.status == 404


def test_a_run_is_loaded_again_when_its_folder_changes(
    folder: Path, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Measurements()
    runs = ServedRuns({"x": folder}, measured)
    before = runs["x"].run
    runs.refresh()
    assert runs["x"].run is before
    shutil.rmtree(folder)
    shutil.copytree(folders["iris"], folder)
    runs.refresh()
    again = runs["x"].run
    assert again.spec.class_names == nw.open_run(folders["iris"]).spec.class_names
    runs.refresh()
    assert runs["x"].run is again
    assert measured.total("netwright_reloads_total", run="x", outcome="loaded") == 1
    assert "x has changed and was loaded again" in capsys.readouterr().err


def test_a_folder_that_cannot_be_read_leaves_the_run_as_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Measurements()
    runs = ServedRuns({"x": folder}, measured)
    before = runs["x"].run
    manifest = folder / "model" / "manifest.json"
    manifest.write_text("{}")
    runs.refresh()
    assert runs["x"].run is before
    assert runs["x"].problem
    assert measured.total("netwright_reloads_total", run="x", outcome="refused") == 1
    assert "x stays as it was" in capsys.readouterr().err
    shutil.rmtree(folder)
    runs.refresh()
    assert runs["x"].run is before
    assert "there is no such folder" in runs["x"].problem


def test_a_folder_that_is_being_copied_is_loaded_when_it_is_whole(
    folder: Path, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Measurements()
    runs = ServedRuns({"x": folder}, measured)
    before = runs["x"].run
    shutil.rmtree(folder)
    shutil.copytree(folders["iris"], folder)
    weights = folder / "model" / "model.safetensors"
    weights.rename(folder.parent / "late")
    for _ in range(3):
        runs.refresh()
    assert runs["x"].run is before
    assert capsys.readouterr().err.count("x stays as it was") == 1
    assert measured.total("netwright_reloads_total", run="x", outcome="refused") == 1
    (folder.parent / "late").rename(weights)
    runs.refresh()
    assert runs["x"].problem == ""
    assert runs["x"].run.spec.class_names == nw.open_run(folders["iris"]).spec.class_names


def test_where_the_folder_lies_is_said_on_the_console_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent.parent)
    given = {"x": folder, "y": folder.relative_to(Path.cwd())}
    runs = ServedRuns(given, Measurements())
    shutil.rmtree(folder / "model")
    (folder / "model").mkdir()
    for _ in range(2):  # a folder that lacks files, and none
        runs.refresh()
        printed = capsys.readouterr().err.replace("\n", " ")
        for name, place in given.items():
            served = runs[name]
            assert str(place) in printed
            assert served.problem == served.trouble.replace(str(place), name) != served.trouble
            told = describe_run(served, ServerConfig())["problem"]
            assert told == served.problem
            assert folder.parent.name not in told
        shutil.rmtree(folder, ignore_errors=True)
        for served in runs:
            served.stamp = Stamp(0, 0, 0, 0)  # as if it had been another one


def test_what_is_no_run_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(NetwrightError, match="is not a run folder"):
        ServedRuns({"x": tmp_path}, Measurements())


def test_folders_are_called_by_their_own_name_or_by_the_one_given(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    assert named_folders([f"{tmp_path}/one/", f"two={tmp_path}/x"]) == {
        "one": Path(f"{tmp_path}/one/"),
        "two": Path(f"{tmp_path}/x"),
    }
    with pytest.raises(ConfigError, match=r"got 'a=b'; give it one by NAME=FOLDER"):
        named_folders([f"{tmp_path}/a=b"])
    with pytest.raises(ConfigError, match="two runs are called one"):
        named_folders(["one", "one=elsewhere"])
    with pytest.raises(ConfigError, match=r"letters, digits, '\.', '_' and '-', got '\.\./x'"):
        named_folders(["../x=folder"])
