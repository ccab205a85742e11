"""Bytes of CSV or TSV -> a raw table: strict, and every refusal names its line.

Repaired, with a note: a mark (BOM) at the head, UTF-16 without one, Western text that is not UTF-8,
CR and CRLF line ends, `;`, tabs or `|` for commas, also where a first line `sep=;` says so, decimal
commas beside `;`, blank lines, an unnamed first column of row names. Noted: a header that holds
numbers, which may be a row. Read where a setting says so: other encodings, marks between thousands.
Refused: the rest.

Large files that are regular are read column by column (`regular_csv`); all others, and all that are
refused, record by record, with the same result.
"""

import csv
import io
from contextlib import closing

from netwright.core.errors import DataError
from netwright.data.files.file_encoding import decode_bytes, detected_encoding
from netwright.data.tables.column_cells import Cells, ListCells
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.doubts.totals_row import totals_note
from netwright.data.tables.number_marks import as_number, read_marks, rewritten_columns
from netwright.data.tables.raw_table import RawTable, clean, listed
from netwright.data.tables.records import (
    Records,
    blank_note,
    check_header,
    find_delimiter,
    named_columns,
    named_delimiter,
    reading_notes,
)
from netwright.data.tables.regular_csv import read_regular
from netwright.data.tables.watched_reading import watched_lines

LARGE = 2**20  # bytes from which reading by columns is worth the import of its reader


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
    encoding = None if dialect is None else dialect.encoding
    detected = detected_encoding(content) if encoding == "" else ""
    encoding = detected or encoding
    records = None
    if len(content) >= LARGE:
        records = read_regular(name, content, delimiter, encoding)
    records = records or read_carefully(name, content, delimiter, encoding)
    notes = [*detected_note(detected), *records.notes, *_doubted_numbers(records)]
    columns, unnamed = named_columns(name, records)
    notes += unnamed
    if "" in columns:
        notes.append(_leave_out_row_names(f"{name}:{records.header_line}", columns))
    notes += totals_note(columns)
    thousands = "" if dialect is None else dialect.thousands
    decimal_commas = records.delimiter == ";"
    plain, said = read_marks(columns, thousands, decimal_commas=decimal_commas)
    return RawTable(
        name=name,
        columns=plain,
        positions=range(len(records.lines)),
        lines=records.lines,
        notes=(*notes, *said),
        thousands=thousands,
        written=rewritten_columns(columns, plain),
        has_decimal_commas=decimal_commas,
    )


def read_carefully(name: str, content: bytes, delimiter: str, encoding: str | None) -> Records:
    """Read record by record; what is wrong is refused by its line."""
    text, marked = decode_bytes(name, content, encoding)
    ends = "CRLF" if "\r\n" in text else "CR" if "\r" in text else ""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    named, length = named_delimiter(text)
    text = text[length:]
    head = next(filter(str.strip, io.StringIO(text)), "")
    found = named or delimiter or find_delimiter(head)
    notes = reading_notes(marked, ends, delimiter, named, found)
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    header_line, blank, begin = 0, -bool(named), 1
    with closing(watched_lines(name, text)) as source:
        reader = csv.reader(source, delimiter=found, strict=True, skipinitialspace=True)
        try:
            for fields in reader:
                if not fields or (len(fields) == 1 and not fields[0].strip()):
                    blank += 1
                elif not header:
                    header, header_line = check_header(name, begin, fields), begin
                elif len(fields) == len(header):
                    rows.append(fields)
                    lines.append(begin)
                else:
                    wanted = f"wanted {len(header)} fields as in the header"
                    if len(header) == 1:  # a title, or a comment
                        wanted = f"wanted one field as in the header, line {header_line}"
                    if len(fields) == len(header) + 1 and not fields[-1].strip():
                        wanted += ", and no delimiter at the end of the line"
                    raise DataError(f"{name}:{begin}: {wanted}, got {len(fields)}")
                begin = reader.line_num + 1
        except csv.Error as error:
            raise DataError(_broken_record(name, begin, reader.line_num, str(error))) from None
    if not rows:
        only = "there is a header but no row" if header else "the file is empty"
        raise DataError(f"{name}: {only}")
    return Records(
        delimiter=found,
        header=header,
        header_line=header_line,
        columns=[ListCells(clean(cells)) for cells in zip(*rows, strict=True)],
        lines=lines,
        notes=notes + blank_note(blank),
    )


def detected_note(encoding: str) -> list[str]:
    """What is said of an encoding that was detected; nothing where it was not."""
    names = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16-LE", "utf-16-be": "UTF-16-BE"}
    way_out = "where letters are wrong, --set data.encoding names another"
    return [f"the file is read as {names[encoding]}, as detected; {way_out}"] if encoding else []


def _doubted_numbers(records: Records) -> list[str]:
    """Say it where numbers name columns: a table without a header loses its first row so."""
    numbers = [column for column in records.header if as_number(column) is not None]
    if not numbers:
        return []
    line = f"line {records.header_line}"
    return [f"{line} is taken as the header, although it contains numbers: {listed(numbers)}"]


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


def _leave_out_row_names(place: str, columns: dict[str, Cells]) -> str:
    """Take out the row names that R and pandas write, the one column without a name."""
    cells = columns.pop("")
    if len(set(cells)) < len(cells):
        raise DataError(f"{place}: field 1 of the header is empty, give it a name")
    return "the unnamed first column is left out, every value is different (id-like)"
