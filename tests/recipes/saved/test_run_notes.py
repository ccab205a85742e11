"""Tags and notes of a run: kept whole, listed, refused where they are none, and never trusted."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.saved.run_list import look_at_run
from netwright.recipes.saved.run_notes import FILE, LOCK, MOST_TAGS, RunNotes, note_run, read_notes
from tests.recipes.saved.test_run_list import begun


def test_what_is_not_given_stays_as_it_is(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    assert read_notes(run) == RunNotes() and not (run / FILE).exists()
    note_run(run, tags=["base", "größe", "base"])
    note_run(run, note="before\nthe split")
    assert read_notes(run) == RunNotes(tags=("base", "größe"), note="before\nthe split")
    assert note_run(run, tags=[]).note == "before\nthe split"


def test_they_are_told_in_the_list_and_known_to_verify(tmp_path: Path) -> None:
    run = nw.fit("mlp", "moons", hidden=(2,), epochs=1, out=tmp_path / "run", quiet=True)
    assert run.folder is not None
    nw.note_run(run.folder, add=["small"], note="two units")
    (listed,) = nw.list_runs(tmp_path)
    assert (listed.tags, listed.note) == (("small",), "two units")
    found = nw.verify(run.folder)
    assert found.holds and all(file.is_fine for file in found.files)


@pytest.mark.parametrize("tag", ["", "a b", "a,b", "<b>", "x" * 41, "\x1b[31m", "a/b"])
def test_what_is_no_tag_is_refused_and_changes_nothing(tmp_path: Path, tag: str) -> None:
    run = begun(tmp_path / "a")
    with pytest.raises(ConfigError, match="a tag must be"):
        note_run(run, tags=["good", tag])
    assert read_notes(run) == RunNotes()


def test_too_much_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    with pytest.raises(ConfigError, match=f"may have {MOST_TAGS} tags"):
        note_run(run, tags=[f"t{n}" for n in range(MOST_TAGS + 1)])
    with pytest.raises(ConfigError, match="may have 2,000 letters"):
        note_run(run, note="x" * 2001)
    with pytest.raises(ConfigError, match="a list of words"):
        note_run(run, tags="word")
    with pytest.raises(ConfigError, match="a list of words"):
        note_run(run, add="word")
    with pytest.raises(ConfigError, match="is no run folder"):
        note_run(tmp_path)


@pytest.mark.parametrize(
    "value",
    [[], {"format": 2}, {"format": 1}, {"format": 1, "tags": [3], "note": ""}, "x" * 10],
)
def test_a_file_that_is_not_ours_hides_nothing_else_and_can_be_replaced(
    tmp_path: Path, value: object
) -> None:
    run = begun(tmp_path / "a")
    before = look_at_run(tmp_path, "a")
    (run / FILE).write_text(json.dumps(value))
    with pytest.raises(DataError, match=FILE):
        read_notes(run)
    with pytest.raises(DataError, match="remove the file, or give both"):
        note_run(run, note="new")
    listed = look_at_run(tmp_path, "a")
    assert listed.trouble.startswith("its notes cannot be read: ") and FILE in listed.trouble
    assert replace(listed, trouble="") == before and before.state == "interrupted"
    assert note_run(run, tags=[], note="") == RunNotes()
    assert look_at_run(tmp_path, "a") == before


@pytest.mark.parametrize("note", ["caf\udce9", "\ud800"])
def test_half_a_character_is_refused_before_it_is_written(tmp_path: Path, note: str) -> None:
    run = begun(tmp_path / "a")
    with pytest.raises(ConfigError, match=r"half of one, \\ud[0-9a-f]{3}; write it in UTF-8"):
        note_run(run, note=note)
    assert note_run(run, note="café \U0001f600") == read_notes(run)


def test_tags_that_are_added_at_once_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(tmp_path / "a")
    both = threading.Barrier(2)

    def read_beside_another(folder: Path) -> RunNotes:
        found = read_notes(folder)
        with suppress(threading.BrokenBarrierError):  # nobody else is there: the lock holds
            both.wait(timeout=0.2)
        return found

    monkeypatch.setattr("netwright.recipes.saved.run_notes.read_notes", read_beside_another)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda tag: note_run(run, add=[tag]), ["one", "two"]))
    assert set(read_notes(run).tags) == {"one", "two"}


def test_tags_are_added_and_removed(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    note_run(run, tags=["old", "base"])
    assert note_run(run, add=["new", "base"], remove=["old"]).tags == ("base", "new")
    with pytest.raises(ConfigError, match="has no tag 'bas'; did you mean 'base'"):
        note_run(run, remove=["bas"])
    (run / LOCK).unlink()
    assert note_run(run).tags == ("base", "new") and not (run / LOCK).exists()  # only read


def test_a_full_disk_leaves_the_notes_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(tmp_path / "a")
    note_run(run, tags=["old"])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match="No space left"):
        note_run(run, tags=["new"])
    assert read_notes(run).tags == ("old",)
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == [LOCK]
