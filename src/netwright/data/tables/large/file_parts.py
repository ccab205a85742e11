"""The file of a table in parts, each a raw table: what is held at a time does not grow with it.

A CSV is cut where a record ends, and each part is read as a file of its own, with the header before
it; refusals name the line of the whole file. Parquet comes in batches of rows.
"""

import codecs
import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from netwright.core.errors import DataError
from netwright.core.files.regular_file import open_regular
from netwright.data.files.file_encoding import (
    check_encoding,
    detected_in_file,
    marked_encoding,
)
from netwright.data.tables.delimited import detected_note, parse_delimited
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.frames import (
    check_unpacked,
    frame_table,
    opened_parquet,
    text_columns,
    text_size,
    unpacked_size,
)
from netwright.data.tables.parquet_folder import (
    PARQUET_ENDINGS,
    is_parquet_folder,
    parquet_files,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import TEXT_ENDINGS, with_plain_numbers
from netwright.data.tables.records import SEPARATOR_LINE, find_delimiter, named_delimiter
from netwright.data.tables.regular_csv import has_regular_quotes, positions
from netwright.data.tables.watched_reading import ReadingBar

PART = 2**25  # bytes of a file, or of the numbers of a parquet file, that are read at a time
# Blank lines, then a line; what stands in quotes may have line ends.
_HEADER = re.compile(rb'(?:[ \t]*[\r\n]+)*((?:"[^"]*"|[^"\r\n])*)')


def file_size(path: Path) -> int:
    """The bytes of a table, unpacked, by which parts are made; 0 of a file that has none."""
    if is_parquet_folder(path):
        return sum(map(file_size, parquet_files(path)))
    ending = path.suffix.lower()
    if not os.path.isfile(path) or ending not in {*TEXT_ENDINGS, *PARQUET_ENDINGS}:
        return 0
    if ending in TEXT_ENDINGS:
        return path.stat().st_size
    with opened_parquet(path) as file:
        return unpacked_size(file)


def table_parts(path: Path, dialect: Dialect) -> Iterator[RawTable]:
    """The rows of a file in their order; each knows its place in the whole.

    Args:
        path: of a CSV, TSV or parquet file, or of a folder of parquet files.
        dialect: how it is written.
    """
    rows = 0
    for file in parquet_files(path) if is_parquet_folder(path) else [path]:
        is_parquet = file.suffix.lower() in PARQUET_ENDINGS
        for part in _parquet_parts(file, dialect) if is_parquet else _csv_parts(file, dialect):
            yield replace(part, positions=range(rows, rows + len(part)))
            rows += len(part)


def _parquet_parts(path: Path, dialect: Dialect) -> Iterator[RawTable]:
    with opened_parquet(path) as whole:
        size, texts = unpacked_size(whole), text_columns(whole)
        rows = max(1, PART * whole.metadata.num_rows // max(size, 1))
    # Texts as codes: one that repeats is held once, and its letters are counted before that.
    with opened_parquet(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=rows, use_threads=False):
            size += sum(text_size(batch.column(name)) for name in texts)
            check_unpacked(path, size)
            if len(batch):
                yield with_plain_numbers(frame_table(batch.to_pandas(), path.name), dialect)


def _csv_parts(path: Path, dialect: Dialect) -> Iterator[RawTable]:
    before = 0  # lines
    with (
        open_regular(path) as file,
        closing(ReadingBar(path.name, os.fstat(file.fileno()).st_size)) as bar,
    ):
        # Decided once, by all of it: a part alone may look otherwise, and a later has no mark.
        detected = "" if dialect.encoding else detected_in_file(file)
        file.seek(0)
        for piece, form in _pieces(file, TEXT_ENDINGS[path.suffix.lower()]):
            if not before:
                _check_cuts(path.name, piece, dialect.encoding or detected)
                if marked_encoding(piece) or not dialect.encoding:
                    dialect = replace(dialect, encoding=detected or "utf-8")
            content = form.head + piece if before else piece
            shift = before - _line_ends(form.head) if before else 0
            if piece.strip():
                part = _read_part(path, content, dialect, shift)
                noted = [] if before else detected_note(detected)
                yield replace(part, notes=(*noted, *part.notes))
            before += _line_ends(piece)
            bar.reach(file.tell())


class _Form(NamedTuple):
    """How records are written: the lines before the rows, and what ends lines and fields."""

    head: bytes
    end: bytes
    delimiter: str


def _pieces(file: BinaryIO, delimiter: str) -> Iterator[tuple[bytes, _Form]]:
    """Whole records, about a part of them."""
    rest, form = b"", None
    while read := file.read(PART):
        form = form or _form(read, delimiter)
        piece = rest + read
        is_last = len(read) < PART
        stop = len(piece) if is_last else _whole_records(piece, form)
        yield piece[:stop], form
        rest = piece[stop:]
    if form and rest:  # the file ended with a part
        yield rest, form


def _form(piece: bytes, delimiter: str) -> _Form:
    piece = piece.removeprefix(codecs.BOM_UTF8)
    named, length = named_delimiter(piece[:SEPARATOR_LINE].decode("latin-1"))
    found = _HEADER.match(piece[length:])
    header = found.group(1) if found else b""
    end = b"\n" if b"\r\n" in piece else max((b"\n", b"\r"), key=piece.count)
    head = piece[:length] + end * bool(length) + header + end
    return _Form(head, end, named or delimiter or find_delimiter(header.decode("latin-1")))


def _line_ends(piece: bytes) -> int:
    return piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")


def _whole_records(piece: bytes, form: _Form) -> int:
    """Where the last whole record ends; all of it where none does, which reading will refuse."""
    quotes = positions(piece, b'"')
    if has_regular_quotes(piece, quotes[: len(quotes) // 2 * 2], form.delimiter):
        ends = positions(piece, form.end)
        outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else len(piece)
    return _records_read(piece, form) or len(piece)


def _records_read(piece: bytes, form: _Form) -> int:
    """The same by reading them: a quote inside a field, as in 5" pipe, is none."""
    # Another line end that strays in is one too, though not one to cut at.
    stray = "\r" if form.end == b"\n" else "\n"
    lines = piece.decode("latin-1").replace(stray, form.delimiter).split(form.end.decode())
    unfinished = lines.pop()  # empty where the piece ends with a line
    reader = csv.reader(
        (f"{line}\n" for line in lines),
        delimiter=form.delimiter,
        strict=True,
        skipinitialspace=True,
    )
    whole = 0
    try:
        for _ in reader:
            whole = reader.line_num
    except csv.Error as error:
        if "unexpected end" not in str(error):
            return 0
    is_all = whole == len(lines)
    return len(piece) - len(unfinished) if is_all else sum(len(line) + 1 for line in lines[:whole])


def _check_cuts(name: str, piece: bytes, encoding: str) -> None:
    """Refuse encodings in which a line end is not the byte that it is in ASCII."""
    check_encoding(encoding or "UTF-8")
    marked = marked_encoding(piece)
    own = encoding or "UTF-8"
    if marked not in {"", "UTF-8-sig"} or '\n"'.encode(own) != b'\n"':
        raise DataError(
            f"{name}: a file of {marked or own} cannot be read in parts; save it as UTF-8, or "
            f"raise data.in_memory_gb if it fits in memory"
        )


def _read_part(path: Path, content: bytes, dialect: Dialect, shift: int) -> RawTable:
    """One part as a table whose lines are those of the whole file."""
    delimiter = TEXT_ENDINGS[path.suffix.lower()]
    try:
        table = parse_delimited(path.name, content, delimiter=delimiter, dialect=dialect)
    except DataError as error:
        raise DataError(_moved(str(error), path.name, shift)) from None
    return replace(table, lines=_shifted(table.lines or (), shift))


def _shifted(lines: Sequence[int], shift: int) -> Sequence[int]:
    if isinstance(lines, range):
        return range(lines.start + shift, lines.stop + shift)
    return [line + shift for line in lines]


def _moved(said: str, name: str, shift: int) -> str:
    """A refusal of a part with the lines of the whole file."""

    def move(found: "re.Match[str]") -> Any:
        return f"{found.group(1)}{int(found.group(2)) + shift}"

    return re.sub(rf"(^{re.escape(name)}:|(?<=of this row) in line )(\d+)", move, said)
