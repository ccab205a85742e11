"""`netwright note`: tags are added and removed, a note is written, `runs --tag` lists by tag."""

import json
from pathlib import Path

from tests.apps.cli.conftest import Type


def test_tags_and_a_note_are_kept_and_listed(type_in: Type, things_run: Path) -> None:
    assert type_in("note", things_run, "--tag", "base", "--tag", "old").code == 0
    assert type_in("note", things_run, "first try", "--untag", "old").code == 0
    told = type_in("note", things_run)
    assert told.out == "tags: base\nnote: first try\n"
    listed = json.loads(type_in("runs", things_run.parent, "--tag", "base", "--json").out)
    assert [one["name"] for one in listed] == [things_run.name]
    assert listed[0]["note"] == "first try"
    none = type_in("runs", things_run.parent, "--tag", "other")
    assert none.out == "" and "no runs with the tag other" in none.err
    assert json.loads(type_in("note", things_run, "", "--untag", "base", "--json").out) == {
        "tags": [],
        "note": "",
    }


def test_what_is_wrong_is_refused_in_one_sentence(type_in: Type, things_run: Path) -> None:
    refused = type_in("note", things_run, "--tag", "two words")
    assert refused.code == 2 and "a tag must be 1 to 40 letters" in refused.err
    refused = type_in("note", things_run, "--untag", "nosuch")
    assert refused.code == 2 and "has no tag 'nosuch'" in refused.err
    refused = type_in("note", things_run, "caf\udce9")
    assert refused.code == 2 and "a note must be whole characters" in refused.err
    assert type_in("note", things_run / "model").code == 2


def test_notes_that_cannot_be_read_leave_the_run_in_the_list(
    type_in: Type, things_run: Path
) -> None:
    (things_run / "notes.json").write_text("{broken")
    told = type_in("runs", things_run.parent)
    assert told.code == 0 and "finished" in told.out
    assert f"{things_run.name}: its notes cannot be read" in " ".join(told.err.split())
    (things_run / "notes.json").unlink()
