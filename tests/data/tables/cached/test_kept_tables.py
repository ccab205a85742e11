"""The cache of converted tables: how much is kept, and what goes first."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from netwright.core.files.process_lock import ProcessLock
from netwright.data.tables.cached.kept_tables import (
    DAY,
    kept_tables,
    lock_of,
    make_room,
    mark_used,
)
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table

NAMES = [f"{place:016x}" for place in range(3)]


@pytest.fixture(name="cache")
def _cache(tmp_path: Path) -> Path:
    """Three tables of 100 bytes, opened two, four and three days ago, and what is none of them."""
    for name, days in zip(NAMES, (2, 4, 3), strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inputs.npy").write_bytes(bytes(60))
        (tmp_path / name / "table.json").write_bytes(bytes(40))
        used = time.time() - days * DAY
        os.utime(tmp_path / name, (used, used))
    (tmp_path / "mine").mkdir()
    (tmp_path / ("f" * 16)).symlink_to(tmp_path / "mine")
    (tmp_path / f"{NAMES[0]}.lock").touch()
    return tmp_path


def left(cache: Path) -> set[str]:
    return {name for name in NAMES if (cache / name).exists()}


def test_the_longest_unused_is_first(cache: Path) -> None:
    found = kept_tables(cache)
    assert [table.folder.name for table in found] == [NAMES[1], NAMES[2], NAMES[0]]
    assert {table.size for table in found} == {100}


def test_nothing_goes_where_there_is_room(cache: Path) -> None:
    assert make_room(cache, 100, 400) == ()
    assert left(cache) == set(NAMES)


def test_as_many_go_as_must(cache: Path) -> None:
    assert make_room(cache, 100, 399) == (NAMES[1],)
    assert make_room(cache, 300, 399) == (NAMES[2], NAMES[0])
    assert left(cache) == set()
    assert (cache / "mine").exists() and (cache / ("f" * 16)).is_symlink()


def test_what_was_opened_today_or_is_held_stays(cache: Path) -> None:
    mark_used(cache / NAMES[1])
    with lock_of(cache / NAMES[2]):
        assert make_room(cache, 100, 0) == (NAMES[0],)
    assert left(cache) == {NAMES[1], NAMES[2]}


def test_what_cannot_be_removed_stays(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path, to: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(folder))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuse)
        assert make_room(cache, 100, 0) == ()
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)
        assert make_room(cache, 100, 0) == ()
    assert left(cache) == set(NAMES)


def test_an_end_while_a_table_is_removed_leaves_no_half_of_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(folder: Path) -> None:
        (folder / "inputs.npy").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("netwright.data.tables.cached.kept_tables.shutil.rmtree", cut)
        make_room(cache, 100, 399)
    assert left(cache) == {NAMES[0], NAMES[2]}
    assert [path.name for path in cache.glob("*.removed")] == [f"{NAMES[1]}.removed"]
    assert make_room(cache, 0, 400) == ()
    assert list(cache.glob("*.removed")) == []


def test_a_table_that_another_process_removes_is_passed_over(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan(folder: str | Path) -> Any:
        if Path(folder).name == NAMES[0]:
            os.rename(folder, cache / "gone")  # after the cache was listed
        return list_folder(folder)

    list_folder = os.scandir
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scan)
        assert [table.folder.name for table in kept_tables(cache)] == [NAMES[1], NAMES[2]]


def test_a_table_that_is_opened_after_the_look_stays(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_and_take(lock: ProcessLock, *, wait: bool = True) -> bool:
        mark_used(cache / NAMES[2])
        return take(lock, wait=wait)

    take = ProcessLock.acquire
    monkeypatch.setattr(ProcessLock, "acquire", open_and_take)
    assert make_room(cache, 100, 0) == (NAMES[1], NAMES[0])
    assert left(cache) == {NAMES[2]}


def test_a_table_that_is_converted_removes_an_old_one_and_says_so(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cache / "t.csv"
    path.write_text("a,y\n" + "".join(f"{row},{row % 2}\n" for row in range(50)))
    monkeypatch.setattr("netwright.data.tables.large.large_table.made_cache", lambda *_: cache)
    settings: dict[str, Any] = {"path": str(path), "target": ("y",), "in_memory_gb": 1e-9}
    data = load_table(TableConfig(**settings, cache_gb=1e-9))
    assert left(cache) == set()
    assert f"the longest unused: {NAMES[1]}" in data.notes[-1]
    again = load_table(TableConfig(**settings, cache_gb=5.0))  # how much is kept is no other table
    assert len(kept_tables(cache)) == 1
    assert again.notes == data.notes[:-1]  # what was removed is no property of the table
