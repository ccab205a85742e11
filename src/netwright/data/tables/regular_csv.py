"""Regular CSV, read by columns without Python for each cell; what is not regular is left alone.

Regular is a file of several columns in which every quote opens or closes a field or is doubled
inside one, every record has as many fields as the header, and no blank line holds blanks. There
Arrow reads what Python's `csv` reads. Nothing is refused here: a file in which anything is wrong is
read again by records, which finds the place.

Source: Shafranovich, "Common Format and MIME Type for CSV Files", RFC 4180 (2005).
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.files.file_encoding import utf8_bytes
from netwright.data.tables.arrow_csv import CsvText
from netwright.data.tables.records import (
    SEPARATOR_LINE,
    Records,
    blank_note,
    check_header,
    find_delimiter,
    named_delimiter,
    reading_notes,
)

PIECE = 2**18  # bytes that are searched at a time: a mask of them stays in the cache
SAMPLE = 1000  # rows
END, RETURN, QUOTE, ZERO = ord("\n"), ord("\r"), ord('"'), ord("0")


def read_regular(name: str, content: bytes, delimiter: str, encoding: str | None) -> Records | None:
    """Read a whole file; None where it is not regular, or where Arrow is not installed.

    Args:
        name: the file's name.
        content: its bytes.
        delimiter: what stands between the fields; "" takes the commonest in the header.
        encoding: as `decode_bytes` takes it.
    """
    if find_spec("pyarrow") is None:
        return None
    content, marked = utf8_bytes(name, content, encoding)
    named, length = named_delimiter(content[:SEPARATOR_LINE].decode("latin-1"))
    content = content[length:]
    marks, ends = find_marks(content), ""
    if marks.counts[RETURN]:
        ends = "CRLF" if b"\r\n" in content else "CR"
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        marks = find_marks(content)
    places = None if marks.counts[0] else _places(content, marks)
    if places is None or not len(places.rows):
        return None
    try:
        text = content[places.header].decode()
        found = named or delimiter or find_delimiter(text)
        fields = next(csv.reader([text], delimiter=found, strict=True, skipinitialspace=True))
        header = check_header(name, places.header_line, fields)
    except (UnicodeDecodeError, csv.Error, DataError):
        return None
    if len(header) == 1 or not has_regular_quotes(content, marks.quotes, found):
        return None
    columns = CsvText(
        name=name,
        content=content,
        start=places.header.stop,
        sample=places.sample,
        width=len(header),
        delimiter=found,
        num_rows=len(places.rows),
        longest=places.longest,
        has_quotes=len(marks.quotes) > 0,
        has_long_fields=places.has_long_fields,
        has_blanks=_may_have_blanks(content, marks, found),
        may_have_padded=partial(may_have_padded, content, found),
    ).columns()
    if columns is None:
        return None
    return Records(
        delimiter=found,
        header=header,
        header_line=places.header_line,
        columns=columns,
        lines=places.rows,
        notes=reading_notes(marked, ends, delimiter, named, found)
        + blank_note(places.blank - bool(named)),
    )


class Marks(NamedTuple):
    """What tells how a file is written, found in one look at each byte.

    Args:
        ends: the positions of all line feeds.
        quotes: the positions of all quotes.
        counts: how often each byte up to the quote stands there: all blanks are below it.
    """

    ends: NDArray[np.int64]
    quotes: NDArray[np.int64]
    counts: list[int]


def find_marks(content: bytes) -> Marks:
    """Look at each byte once; of numbers and names hardly one is not above all that is sought."""
    ends, quotes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    counts = np.zeros(QUOTE + 1, np.int64)
    for start, piece in _pieces(content):
        places = np.flatnonzero(piece <= QUOTE)
        letters = piece[places]
        counts += np.bincount(letters, minlength=len(counts))
        places += start
        ends.append(places[letters == END])
        quotes.append(places[letters == QUOTE])
    return Marks(np.concatenate(ends), np.concatenate(quotes), counts.tolist())


@dataclass(frozen=True, kw_only=True)
class _Places:
    """Where the records of a file are.

    Args:
        header: its bytes.
        header_line: its line, from 1.
        rows: the lines in which the rows begin.
        sample: where the last of the first rows ends.
        blank: the number of empty lines between records.
        longest: bytes of the longest record.
        has_long_fields: whether a line ends inside quotes.
    """

    header: slice
    header_line: int
    rows: Sequence[int]
    sample: int
    blank: int
    longest: int
    has_long_fields: bool


def _places(content: bytes, marks: Marks) -> _Places | None:
    """None where there is no header, or not in one line, or where a field is too long."""
    quotes, ends = marks.quotes, marks.ends
    if content and not content.endswith(b"\n"):
        ends = np.append(ends, len(content))
    is_end = np.searchsorted(quotes, ends) % 2 == 0  # the others stand in quotes
    stops = ends[is_end]
    starts = np.append(0, stops[:-1] + 1)
    lines = np.append(1, np.flatnonzero(is_end)[:-1] + 2)
    full = np.flatnonzero(stops > starts)
    if not len(full) or len(quotes) % 2:
        return None
    longest = int((stops - starts).max())
    header = slice(int(starts[full[0]]), int(stops[full[0]]))
    if longest > csv.field_size_limit() or b"\n" in content[header] or not content[header].strip():
        return None
    rows = lines[full[1:]]
    is_run = len(rows) and rows[-1] - rows[0] + 1 == len(rows)
    return _Places(
        header=header,
        header_line=int(lines[full[0]]),
        rows=range(int(rows[0]), int(rows[-1]) + 1) if is_run else rows.tolist(),
        sample=int(stops[full[: SAMPLE + 1][-1]]),
        blank=len(stops) - len(full),
        longest=longest,
        has_long_fields=not is_end.all(),
    )


def _pieces(content: bytes) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Where each piece begins, and its bytes: a mask of the whole would be as large as it."""
    whole = np.frombuffer(content, np.uint8)
    return ((start, whole[start : start + PIECE]) for start in range(0, len(whole), PIECE))


def positions(content: bytes, letter: bytes) -> NDArray[np.int64]:
    """Where a byte stands."""
    if letter not in content:
        return np.zeros(0, np.int64)
    found = [np.flatnonzero(piece == ord(letter)) + start for start, piece in _pieces(content)]
    return np.concatenate(found)


def _may_have_blanks(content: bytes, marks: Marks, delimiter: str) -> bool:
    """Whether cells may begin or end with blanks.

    None does in ASCII whose only bytes up to the space are line feeds and delimiters.
    """
    known = {END, ord(delimiter)}
    blanks = (
        count for letter, count in enumerate(marks.counts[: ord(" ") + 1]) if letter not in known
    )
    return not content.isascii() or any(blanks)


def may_have_padded(content: bytes, delimiter: str) -> bool:
    """Whether a 0 at the begin of a field has digits behind it up to its end: 007."""
    whole = np.frombuffer(content, np.uint8)
    around = bytes([*range(QUOTE + 1), *range(128, 256), ord(delimiter)])  # blanks of any kind
    is_around = np.isin(np.arange(256), np.frombuffer(around, np.uint8))
    digits = re.compile(rb"[0-9]+(?![^" + re.escape(around) + rb"])")
    for start in range(0, len(whole), PIECE):
        piece = whole[start : start + PIECE + 1]
        zeros = start + np.flatnonzero((piece[:-1] == ZERO) & (piece[1:] - ZERO < 10))
        fields = zeros[is_around[whole[zeros - 1]]]
        if any(digits.match(content, place) for place in fields.tolist()):
            return True
    return False


def has_regular_quotes(content: bytes, quotes: NDArray[np.int64], delimiter: str) -> bool:
    """Whether quotes open after a field's end and close before one, or are doubled."""
    whole = np.frombuffer(content, np.uint8)
    opening, closing = quotes[::2], quotes[1::2]
    before = whole[opening[opening > 0] - 1]
    after = whole[closing[closing < len(whole) - 1] + 1]
    around = np.frombuffer(f'{delimiter}\n"'.encode(), np.uint8)
    return bool(np.isin(before, around).all() and np.isin(after, around).all())
