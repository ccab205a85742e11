"""Where data is looked for: NETWRIGHT_DATA in order, then the cache."""

import os
from pathlib import Path

import pytest

from netwright.data.files.locations import cache_folder, find_file, home_folder, search_path


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NETWRIGHT_DATA", "NETWRIGHT_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def put(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "file.gz").write_bytes(b"content")
    return folder / "file.gz"


def test_the_search_path_is_a_list_of_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    assert search_path() == []
    monkeypatch.setenv("NETWRIGHT_DATA", os.pathsep.join(["/first", "", "~/second"]))
    assert search_path() == [Path("/first"), Path.home() / "second"]


def test_the_cache_lies_under_the_home_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder("mnist") == Path.home() / ".cache/netwright/data/mnist"
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder("mnist") == Path("/cache/netwright/data/mnist")
    monkeypatch.setenv("NETWRIGHT_HOME", "/own")
    assert cache_folder("mnist") == Path("/own/data/mnist")
    assert home_folder() == Path("/own")


def test_files_are_found_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    monkeypatch.setenv("NETWRIGHT_DATA", os.pathsep.join(map(str, folders)))
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "own"))
    assert find_file("toy", "file.gz") is None
    cached = put(tmp_path / "own/data/toy")
    assert find_file("toy", "file.gz") == cached
    second = put(folders[1] / "toy")
    assert find_file("toy", "file.gz") == second
    first = put(folders[0] / "toy")
    assert find_file("toy", "file.gz") == first
    assert find_file("other", "file.gz") is None


def test_a_folder_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "toy/file.gz").mkdir(parents=True)
    assert find_file("toy", "file.gz") is None


def test_looking_makes_no_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "own"))
    find_file("toy", "file.gz")
    cache_folder("toy")
    assert list(tmp_path.iterdir()) == []
