"""Looking through a folder: each file's state, whatever stands in its place."""

import hashlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.core.files.inside import open_folder
from netwright.recipes.saved.folder_check import FolderCheck
from netwright.recipes.saved.known_files import MODEL, RUN, Layout


def states(folder: Path, layout: Layout = MODEL) -> dict[str, str]:
    with open_folder(folder) as opened:
        files = FolderCheck(opened, layout).files
    assert len({file.name for file in files}) == len(files)
    return {file.name: file.state for file in files}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A sealed folder with a file of one tensor."""
    folder = tmp_path / "model"
    folder.mkdir()
    contents = {
        "model.safetensors": (2).to_bytes(8, "little") + b"{}",
        "config.json": b'{"name": "mlp"}',
        "preprocessor.json": b"{}",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    seal(folder)
    return folder


def seal(folder: Path) -> None:
    sums = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.name != "manifest.json"
    }
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "sha256": sums}))


def test_a_whole_folder(model: Path) -> None:
    assert states(model) == {
        "config.json": "whole",
        "manifest.json": "there",
        "model.safetensors": "whole",
        "preprocessor.json": "whole",
    }


def link(place: Path) -> None:
    place.symlink_to("/etc/passwd")


def pipe(place: Path) -> None:
    os.mkfifo(place)


def listening(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(place.name)


def folder_of_its_name(place: Path) -> None:
    place.mkdir()


def huge(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(5 * 10**9)


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (link, "a link"),
    "pipe": (pipe, "no regular file"),
    "socket": (listening, "no regular file"),
    "folder": (folder_of_its_name, "unknown"),
    "huge": (huge, "unreadable"),
    "other bytes": (lambda place: place.write_bytes(b'{"name": "x"}'), "damaged"),
    "nothing": (lambda place: None, "missing"),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("name", ["config.json", "manifest.json"])
def test_whatever_stands_in_the_place_of_a_file_is_told(
    model: Path, name: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model)  # a socket's whole path may be too long
    make, state = ODD[case]
    (model / name).unlink()
    make(model / name)
    if case == "other bytes" and name == "manifest.json":
        state = "unreadable"
    found = states(model)
    assert found[name] == state
    assert "not listed" not in found.values()


def test_a_file_that_the_manifest_does_not_know_is_told(model: Path) -> None:
    (model / "extra.py").write_text("")
    (model / "model.bin").write_bytes(b"x")
    found = states(model)
    assert (found["extra.py"], found["model.bin"]) == ("not listed", "not listed")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b"[" * 100_000),
        ("config.json", b"\xff"),
        ("model.safetensors", b"\xff" * 16),
        ("preprocessor.json", b""),
    ],
)
def test_a_right_sum_does_not_make_garbage_readable(model: Path, name: str, content: bytes) -> None:
    (model / name).write_bytes(content)
    seal(model)
    assert states(model)[name] == "unreadable"


@pytest.mark.parametrize("sums", [{"../config.yaml": "0" * 64}, {"config.json": "0" * 63}, []])
def test_a_manifest_that_leads_elsewhere_is_told(model: Path, sums: object) -> None:
    (model / "manifest.json").write_text(json.dumps({"format": 1, "sha256": sums}))
    assert states(model)["manifest.json"] == "unreadable"


def test_only_folders_of_ours_are_entered(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("model: {name: mlp}\n")
    (tmp_path / "mine" / "deeper").mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".netwright-x.part").mkdir()
    (tmp_path / "checkpoints" / "step-000001").mkdir(parents=True)
    (tmp_path / "members").symlink_to(tmp_path / "mine")
    assert states(tmp_path, RUN) == {
        ".netwright-x.part": "left over",
        "checkpoints/step-000001/manifest.json": "missing",
        "config.yaml": "there",
        "members": "a link",
        "mine": "unknown",
        "notes.txt": "unknown",
    }


def test_odd_modes_and_second_names_are_remarked(model: Path, tmp_path: Path) -> None:
    (model / "config.json").chmod(0o4777)
    os.link(model / "preprocessor.json", tmp_path / "elsewhere")
    with open_folder(model) as opened:
        remarks = {file.name: file.remark for file in FolderCheck(opened, MODEL).files}
    assert remarks["config.json"] == ("it is setuid, it is world-writable, it is executable")
    assert remarks["preprocessor.json"] == "it has another hard link"
    assert remarks["model.safetensors"] == ""


def test_many_entries_are_refused(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_FILES", "3")
    with pytest.raises(DataError, match=r"holds 4 entries, at most 3 .* raise NETWRIGHT_MAX_FILES"):
        states(model)
