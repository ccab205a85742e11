"""Tags and notes of a run: kept whole, listed, refused where they are none, and never trusted."""

import json
import os
from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.saved.run_list import look_at_run
from netwright.recipes.saved.run_notes import FILE, MOST_TAGS, RunNotes, note_run, read_notes
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
    nw.note_run(run.folder, tags=["small"], note="two units")
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
    with pytest.raises(ConfigError, match="is no run folder"):
        note_run(tmp_path)


@pytest.mark.parametrize(
    "value",
    [[], {"format": 2}, {"format": 1}, {"format": 1, "tags": [3], "note": ""}, "x" * 10],
)
def test_a_file_that_is_not_ours_makes_the_run_unreadable_in_a_sentence(
    tmp_path: Path, value: object
) -> None:
    run = begun(tmp_path / "a")
    (run / FILE).write_text(json.dumps(value))
    with pytest.raises(DataError, match=FILE):
        read_notes(run)
    assert FILE in look_at_run(tmp_path, "a").trouble


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
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == []
