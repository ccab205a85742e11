"""The records of a delimited file: its header, its columns, and the lines of its rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from netwright.core.errors import DataError
from netwright.core.limits import COLUMNS
from netwright.data.tables.column_cells import Cells

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# The line that Excel writes and reads before the header; some writers put it in quotes.
SEPARATOR = re.compile(r'("?)sep=([,;\t|])\1(?=[\r\n]|\Z)', re.IGNORECASE)
SEPARATOR_LINE = 10  # letters of it, and of what ends it


@dataclass(frozen=True, kw_only=True)
class Records:
    """What a reader found.

    Args:
        delimiter: what stands between the fields.
        header: the names of the columns.
        header_line: the line of the header, from 1.
        columns: the cells of each column, in the order of the header; at least one row.
        lines: the line in which each row begins.
        notes: what was repaired on the way, one sentence each.
    """

    delimiter: str
    header: list[str]
    header_line: int
    columns: Sequence[Cells]
    lines: Sequence[int]
    notes: list[str]


def named_delimiter(text: str) -> tuple[str, int]:
    """The delimiter that a first line `sep=;` names, and how long that is; of others "" and 0.

    Without it the line is a blank one, so that all lines keep their numbers.
    """
    found = SEPARATOR.match(text)
    return (found[2], found.end()) if found else ("", 0)


def find_delimiter(header: str) -> str:
    """The commonest in a line of names; of equals the first, the comma."""
    outside = "".join(header.split('"')[::2])  # what stands in quotes is part of a name
    return max(DELIMITERS, key=outside.count)


def reading_notes(marked: str, ends: str, given: str, named: str, delimiter: str) -> list[str]:
    """What is said of the bytes.

    Args:
        marked: what was said of the mark at the head.
        ends: "CRLF" or "CR" where lines end so.
        given: the delimiter that was asked for.
        named: the one that the first line names.
        delimiter: the one that was found.
    """
    notes = [marked] if marked else []
    if ends:
        notes.append(f"line ends were {ends}")
    if named:
        notes.append(f"line 1 says that the fields are separated by {DELIMITERS[named]}")
    elif not given and delimiter != ",":
        notes.append(f"the fields are separated by {DELIMITERS[delimiter]}")
    return notes


def blank_note(blank: int) -> list[str]:
    """What is said of blank lines, where there are some."""
    return [f"blank lines skipped: {blank}"] if blank else []


def check_header(name: str, line: int, fields: list[str]) -> list[str]:
    """The names of the columns; one that is empty or stands twice is refused.

    The first may be empty, and so may the last: see `named_columns`.
    """
    COLUMNS.check(f"{name}:{line}", len(fields))
    header = [field.strip() for field in fields]
    if header[0].lower().startswith("sep=") and not any(header[1:]):
        raise DataError(
            f"{name}:{line}: 'sep=' names no column, and a delimiter only in line 1, where it is a "
            f"comma, semicolon, tab or vertical bar; remove this line"
        )
    named = sum(map(bool, header))
    if named < 2 < len(header):
        raise DataError(
            f"{name}:{line}: the header names {named} of {len(header)} columns; if it is a title, "
            f"remove what stands above the header"
        )
    places: dict[str, int] = {}
    for place, column in enumerate(header[: _last_named(header)], start=1):
        if not column and place > 1:
            raise DataError(f"{name}:{line}: field {place} of the header is empty, give it a name")
        if column in places:
            raise DataError(
                f"{name}:{line}: column {column!r} appears twice in the header, as field "
                f"{places[column]} and field {place}; rename one of them"
            )
        places[column] = place
    return header


def named_columns(name: str, records: Records) -> tuple[dict[str, Cells], list[str]]:
    """The columns by their names, without empty ones behind them, and what is said of those.

    Lines that end with a delimiter have such a column. One that is not empty is refused.
    """
    stop = _last_named(records.header)
    for place, cells in enumerate(records.columns[stop:], stop + 1):
        if not cells.is_missing.all():
            line = records.lines[int(cells.is_missing.argmin())]
            raise DataError(f"{name}:{line}: field {place} has no name in the header, give it one")
    unnamed = len(records.header) - stop
    is_one = unnamed == 1
    have = "the last column has" if is_one else f"the last {unnamed} columns have"
    notes = [f"{have} no name and no value: left out"] if unnamed else []
    named = zip(records.header[:stop], records.columns[:stop], strict=True)
    return dict(named), notes


def _last_named(header: Sequence[str]) -> int:
    """The number of columns up to the last that has a name; two where none has."""
    names = [place for place, column in enumerate(header, start=1) if column]
    return max(names, default=2)
