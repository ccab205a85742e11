"""Regular CSV, read by columns without Python for each cell; what is not regular is left alone.

Regular is a file of several columns in which every quote opens or closes a field or is doubled
inside one, every record has as many fields as the header, and no blank line holds blanks. There
Arrow reads what Python's `csv` reads. Nothing is refused here: a file in which anything is wrong is
read again by records, which finds the place.

Source: Shafranovich, "Common Format and MIME Type for CSV Files", RFC 4180 (2005).
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.files.file_encoding import utf8_bytes
from netwright.data.tables.arrow_csv import CsvText
from netwright.data.tables.records import (
    Records,
    blank_note,
    check_header,
    find_delimiter,
    reading_notes,
)

PIECE = 2**18  # bytes that are searched at a time: a mask of them stays in the cache
SAMPLE = 1000  # rows


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
    # To look for two bytes takes ten times as long as for one.
    ends = "" if b"\r" not in content else "CRLF" if b"\r\n" in content else "CR"
    if ends:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    places = _places(content)
    if places is None or not len(places.rows) or b"\0" in content:
        return None
    try:
        text = content[places.header].decode()
        found = delimiter or find_delimiter(text)
        fields = next(csv.reader([text], delimiter=found, strict=True, skipinitialspace=True))
        header = check_header(name, places.header_line, fields)
    except (UnicodeDecodeError, csv.Error, DataError):
        return None
    if len(header) == 1 or not has_regular_quotes(content, places.quotes, found):
        return None
    columns = CsvText(
        name=name,
        content=content,
        start=places.header.stop,
        sample=places.sample,
        width=len(header),
        delimiter=found,
        longest=places.longest,
        has_long_fields=places.has_long_fields,
        has_blanks=_may_have_blanks(content, found),
    ).columns()
    if columns is None or len(columns[0]) != len(places.rows):
        return None
    return Records(
        delimiter=found,
        header=header,
        header_line=places.header_line,
        columns=columns,
        lines=places.rows,
        notes=reading_notes(marked, ends, delimiter, found) + blank_note(places.blank),
    )


@dataclass(frozen=True, kw_only=True)
class _Places:
    """Where the records of a file are.

    Args:
        header: its bytes.
        header_line: its line, from 1.
        rows: the lines in which the rows begin.
        sample: where the last of the first rows ends.
        blank: the number of empty lines between records.
        quotes: the positions of all quotes.
        longest: bytes of the longest record.
        has_long_fields: whether a line ends inside quotes.
    """

    header: slice
    header_line: int
    rows: Sequence[int]
    sample: int
    blank: int
    quotes: NDArray[np.int64]
    longest: int
    has_long_fields: bool


def _places(content: bytes) -> _Places | None:
    """None where there is no header, or not in one line, or where a field is too long."""
    quotes, ends = positions(content, b'"'), positions(content, b"\n")
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
        quotes=quotes,
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


def _may_have_blanks(content: bytes, delimiter: str) -> bool:
    """Whether cells may begin or end with blanks.

    None does in ASCII whose only bytes up to the space are line feeds and delimiters: two looks at
    each byte, where the blanks are ten.
    """
    known = {ord("\n")} | {ord(delimiter)} & set(range(ord(" ") + 1))

    def count_others(piece: NDArray[np.uint8]) -> int:
        low = np.count_nonzero(piece <= ord(" "))
        return int(low - sum(np.count_nonzero(piece == letter) for letter in known))

    return not content.isascii() or any(count_others(piece) for _, piece in _pieces(content))


def has_regular_quotes(content: bytes, quotes: NDArray[np.int64], delimiter: str) -> bool:
    """Whether quotes open after a field's end and close before one, or are doubled."""
    whole = np.frombuffer(content, np.uint8)
    opening, closing = quotes[::2], quotes[1::2]
    before = whole[opening[opening > 0] - 1]
    after = whole[closing[closing < len(whole) - 1] + 1]
    around = np.frombuffer(f'{delimiter}\n"'.encode(), np.uint8)
    return bool(np.isin(before, around).all() and np.isin(after, around).all())
