"""Records: what a header must have, and what is said of the bytes."""

import pytest

from netwright.core.errors import DataError
from netwright.data.tables.records import (
    SEPARATOR_LINE,
    blank_note,
    check_header,
    find_delimiter,
    named_delimiter,
    reading_notes,
)
from tests.repetition import for_each


@for_each(
    ("header", "delimiter"),
    [("a,b", ","), ("a;b,c;d", ";"), ("a\tb", "\t"), ("a|b", "|"), ('"a,b,c";d', ";"), ("a", ",")],
)
def test_the_commonest_delimiter_outside_of_quotes(header: str, delimiter: str) -> None:
    assert find_delimiter(header) == delimiter


def test_names_are_without_blanks_and_the_first_may_be_empty() -> None:
    assert check_header("t.csv", 1, ["", " a ", "b"]) == ["", "a", "b"]
    assert check_header("t.csv", 1, ["a", "b", " ", ""]) == ["a", "b", "", ""]


@for_each(
    ("fields", "sentence"),
    [
        (["a", " ", "b"], "t.csv:3: field 2 of the header is empty"),
        ([" ", ""], "t.csv:3: field 2 of the header is empty"),
        (["Sales 2023", "", ""], "t.csv:3: the header names 1 of 3 columns; if it is a title, rem"),
        (["a", "b", "a "], "t.csv:3: column 'a' appears twice .* field 1 and field 3"),
    ],
)
def test_names_that_are_refused(fields: list[str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        check_header("t.csv", 3, fields)


@for_each(
    ("text", "found"),
    [
        ("sep=;\n", (";", 5)),
        ('"SEP=\t"\r\n', ("\t", 7)),
        ("sep=,", (",", 5)),
        ("sep=;x\n", ("", 0)),
        ("sep=;;\n", ("", 0)),
        ("sep=:\n", ("", 0)),
        ('sep=;"\n', ("", 0)),
        ("\nsep=;\n", ("", 0)),
        ("a;sep=;\n", ("", 0)),
    ],
)
def test_a_line_that_names_the_delimiter(text: str, found: tuple[str, int]) -> None:
    assert named_delimiter(text) == found == named_delimiter(text[:SEPARATOR_LINE])


def test_notes_on_the_bytes() -> None:
    assert reading_notes("", "", "", "", ",") == blank_note(0) == []
    assert reading_notes("a mark", "CR", "", "", ";") == [
        "a mark",
        "line ends were CR",
        "the fields are separated by semicolons",
    ]
    assert reading_notes("", "", "\t", "", "\t") == []  # it was asked for
    named = "line 1 says that the fields are separated by semicolons"
    assert reading_notes("", "", "\t", ";", ";") == [named]
    assert blank_note(2) == ["blank lines skipped: 2"]
