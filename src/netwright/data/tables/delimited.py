"""Bytes of CSV or TSV -> a raw table: strict, and every refusal names its line.

Repaired, with a note: a mark (BOM) at the head, CR and CRLF line ends, `;`, tabs or `|` for commas,
decimal commas beside `;`, blank lines, an unnamed first column of row names. Noted: a header that
holds numbers, which may be a row. Read where a setting says so: other encodings, marks between
thousands. Refused: the rest.
"""

import csv
import io
from dataclasses import dataclass, field

from netwright.core.errors import DataError
from netwright.core.limits import COLUMNS
from netwright.data.files.file_encoding import decode_bytes
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.number_marks import as_number, read_marks
from netwright.data.tables.raw_table import RawTable, clean, listed

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def parse_delimited(
    name: str, content: bytes, *, delimiter: str = "", dialect: Dialect | None = None
) -> RawTable:
    """Read a whole file.

    Args:
        name: the file's name, for refusals.
        content: its bytes.
        delimiter: what stands between the fields; "" takes the commonest in the header of comma,
            semicolon, tab and bar.
        dialect: how it is written; None: in the usual way, and there is no setting for it.
    """
    text, marked = decode_bytes(name, content, None if dialect is None else dialect.encoding)
    notes = [marked] if marked else []
    text = _plain_lines(text, notes)
    if not delimiter:
        delimiter = _delimiter_of(text)
        if delimiter != ",":
            notes.append(f"the fields are separated by {_DELIMITERS[delimiter]}")
    records = _records(name, text, delimiter, notes)
    _doubt_numbers(records, notes)
    by_column = zip(records.header, zip(*records.rows, strict=True), strict=True)
    columns = {column: clean(cells) for column, cells in by_column}
    if "" in columns:
        _leave_out_row_names(f"{name}:{records.header_line}", columns, notes)
    thousands = "" if dialect is None else dialect.thousands
    columns, said = read_marks(columns, thousands, decimal_commas=delimiter == ";")
    return RawTable(
        name=name,
        columns=columns,
        positions=range(len(records.rows)),
        lines=records.lines,
        notes=(*notes, *said),
    )


@dataclass(kw_only=True)
class _Records:
    """The header and the rows, with the lines in which they begin."""

    header: list[str] = field(default_factory=list)
    header_line: int = 0
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def _plain_lines(text: str, notes: list[str]) -> str:
    if "\r" not in text:
        return text
    notes.append("line ends were CRLF" if "\r\n" in text else "line ends were CR")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _delimiter_of(text: str) -> str:
    header = next((line for line in io.StringIO(text) if line.strip()), "")
    outside = "".join(header.split('"')[::2])  # what stands in quotes is part of a name
    return max(_DELIMITERS, key=outside.count)  # of equals the first, the comma


def _records(name: str, text: str, delimiter: str, notes: list[str]) -> _Records:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
    found, blank, begin = _Records(), 0, 1
    try:
        for fields in reader:
            if not fields or (len(fields) == 1 and not fields[0].strip()):
                blank += 1
            elif not found.header:
                found.header, found.header_line = _checked_header(name, begin, fields), begin
            elif len(fields) == len(found.header):
                found.rows.append(fields)
                found.lines.append(begin)
            else:
                wanted = f"wanted {len(found.header)} fields as in the header"
                raise DataError(f"{name}:{begin}: {wanted}, got {len(fields)}")
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(_broken_record(name, begin, reader.line_num, str(error))) from None
    if not found.rows:
        only = "there is a header but no row" if found.header else "the file is empty"
        raise DataError(f"{name}: {only}")
    if blank:
        notes.append(f"blank lines skipped: {blank}")
    return found


def _checked_header(name: str, line: int, fields: list[str]) -> list[str]:
    COLUMNS.check(f"{name}:{line}", len(fields))
    header = [field.strip() for field in fields]
    places: dict[str, int] = {}
    for place, column in enumerate(header, start=1):
        if not column and place > 1:
            raise DataError(f"{name}:{line}: field {place} of the header is empty, give it a name")
        if column in places:
            raise DataError(
                f"{name}:{line}: column {column!r} appears twice in the header, as field "
                f"{places[column]} and field {place}"
            )
        places[column] = place
    return header


def _doubt_numbers(records: _Records, notes: list[str]) -> None:
    """Say it where numbers name columns: a table without a header loses its first row so."""
    numbers = [column for column in records.header if as_number(column) is not None]
    if numbers:
        line = f"line {records.header_line}"
        notes.append(
            f"{line} is taken as the header, although it contains numbers: {listed(numbers)}"
        )


def _broken_record(name: str, begin: int, line: int, error: str) -> str:
    if "unexpected end" in error:
        return f'{name}:{begin}: a quote (") is opened in this row and never closed'
    if "field limit" in error:
        limit = csv.field_size_limit()
        return f"{name}:{begin}: a field is longer than {limit} characters (an open quote?)"
    if "expected after" in error:
        there = "" if line == begin else f" in line {line}"
        return f'{name}:{begin}: text follows a closing quote (") of this row{there}'
    return f"{name}:{begin}: {error}"


def _leave_out_row_names(place: str, columns: dict[str, list[str]], notes: list[str]) -> None:
    """Take out the row names that R and pandas write, the one column without a name."""
    cells = columns.pop("")
    if len(set(cells)) < len(cells):
        raise DataError(f"{place}: field 1 of the header is empty, give it a name")
    notes.append("the unnamed first column is left out, every value is different (id-like)")
