"""Records: what a header must have, and what is said of the bytes."""

import pytest

from netwright.core.errors import DataError
from netwright.data.tables.records import blank_note, check_header, find_delimiter, reading_notes
from tests.repetition import for_each


@for_each(
    ("header", "delimiter"),
    [("a,b", ","), ("a;b,c;d", ";"), ("a\tb", "\t"), ("a|b", "|"), ('"a,b,c";d', ";"), ("a", ",")],
)
def test_the_commonest_delimiter_outside_of_quotes(header: str, delimiter: str) -> None:
    assert find_delimiter(header) == delimiter


def test_names_are_without_blanks_and_the_first_may_be_empty() -> None:
    assert check_header("t.csv", 1, ["", " a ", "b"]) == ["", "a", "b"]


@for_each(
    ("fields", "sentence"),
    [
        (["a", " "], "t.csv:3: field 2 of the header is empty"),
        (["a", "b", "a "], "t.csv:3: column 'a' appears twice .* field 1 and field 3"),
    ],
)
def test_names_that_are_refused(fields: list[str], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        check_header("t.csv", 3, fields)


def test_notes_on_the_bytes() -> None:
    assert reading_notes("", "", "", ",") == blank_note(0) == []
    assert reading_notes("a mark", "CR", "", ";") == [
        "a mark",
        "line ends were CR",
        "the fields are separated by semicolons",
    ]
    assert reading_notes("", "", "\t", "\t") == []  # it was asked for
    assert blank_note(2) == ["blank lines skipped: 2"]
