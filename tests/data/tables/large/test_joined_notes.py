"""Notes of parts: one of each kind, as of the whole."""

from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.large.joined_notes import JoinedNotes


def test_notes_of_parts_are_those_of_the_whole() -> None:
    header = b"a;b;2024"
    parts = [b"\n" + header + b"\n1,5;1.000;1\n\n2;2;2\n", b"2,5;2.000;3\n\n\n4;4;4\n", b"5;5;5\n"]

    def notes(content: bytes) -> tuple[str, ...]:
        return parse_delimited("t.csv", content, dialect=Dialect(thousands=".")).notes

    joined = JoinedNotes()
    joined.add(notes(parts[0]))
    for part in parts[1:]:
        joined.add(notes(header + b"\n" + part))
    whole = notes(b"".join(parts))
    assert sorted(joined.notes()) == sorted(whole)
    assert "blank lines skipped: 4" in whole and len(whole) == 5
    assert any("as in '1,5'" in note for note in whole)


def test_columns_and_kinds_are_told_apart() -> None:
    joined = JoinedNotes()
    joined.add(("a: points, as in '1,5'", "b: points, as in '1,5'"))
    joined.add(("a: points, as in '2,5'", "a: thousands, as in '2.000,5'"))
    assert joined.notes() == (
        "a: points, as in '1,5'",
        "b: points, as in '1,5'",
        "a: thousands, as in '2.000,5'",
    )
