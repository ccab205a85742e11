"""Bytes of CSV or TSV -> a raw table: strict, and every refusal names its line.

Repaired, with a note: a UTF-8 mark at the head, CR and CRLF line ends, `;` or tabs for commas,
decimal commas beside `;`, blank lines, an unnamed first column of row names. Refused: the rest.
"""

import codecs
import csv
import io

from netwright.core.errors import DataError
from netwright.data.tables.cells import CLEAR_SHARE, as_number
from netwright.data.tables.raw_table import RawTable, clean

_OTHER_ENCODINGS = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def parse_delimited(name: str, content: bytes, *, delimiter: str = "") -> RawTable:
    """Read a whole file.

    Args:
        name: the file's name, for refusals.
        content: its bytes.
        delimiter: what stands between the fields; "" takes the commonest in the header of comma,
            semicolon and tab.
    """
    notes: list[str] = []
    text = _plain_lines(_decoded(name, content, notes), notes)
    if not delimiter:
        delimiter = _delimiter_of(text)
        if delimiter != ",":
            notes.append(f"the fields are separated by {_DELIMITERS[delimiter]}")
    header, rows, lines = _records(name, text, delimiter, notes)
    columns = {
        column: clean(cells) for column, cells in zip(header, zip(*rows, strict=True), strict=True)
    }
    if header[0] == "":
        _leave_out_row_names(name, columns, notes)
    if delimiter == ";":
        _read_decimal_commas(columns, notes)
    return RawTable(
        name=name, columns=columns, positions=range(len(lines)), lines=lines, notes=tuple(notes)
    )


def _decoded(name: str, content: bytes, notes: list[str]) -> str:
    for mark, encoding in _OTHER_ENCODINGS.items():
        if content.startswith(mark):
            raise DataError(f"{name}:1: the file is {encoding}; save it as UTF-8")
    if content.startswith(codecs.BOM_UTF8):
        content = content[len(codecs.BOM_UTF8) :]
        notes.append("a UTF-8 mark (BOM) at the head of the file was skipped")
    nul = content.find(b"\0")
    if nul >= 0:
        line = _line_at(content, nul)
        raise DataError(f"{name}:{line}: a NUL byte; the file is not text (save it as UTF-8)")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _line_at(content, error.start)
        raise DataError(
            f"{name}:{line}: byte 0x{content[error.start]:02x} at position {error.start} is not "
            "UTF-8; save the file as UTF-8"
        ) from None


def _line_at(content: bytes, position: int) -> int:
    before = content[:position]
    return before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n") + 1


def _plain_lines(text: str, notes: list[str]) -> str:
    if "\r" not in text:
        return text
    notes.append("line ends were CRLF" if "\r\n" in text else "line ends were CR")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _delimiter_of(text: str) -> str:
    header = text.lstrip("\n").partition("\n")[0]
    outside = "".join(header.split('"')[::2])  # what stands in quotes is part of a name
    return max(_DELIMITERS, key=outside.count)  # of equals the first, the comma


def _records(
    name: str, text: str, delimiter: str, notes: list[str]
) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows, and the line in which each row begins."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    blank, begin = 0, 1
    try:
        for fields in reader:
            if not fields:
                blank += 1
            elif not header:
                header = _checked_header(name, begin, fields)
            elif len(fields) != len(header):
                raise DataError(
                    f"{name}:{begin}: wanted {len(header)} fields as in the header, "
                    f"got {len(fields)}"
                )
            else:
                rows.append(fields)
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DataError(_broken_record(name, begin, reader.line_num, str(error))) from None
    if not header:
        raise DataError(f"{name}: the file is empty")
    if not rows:
        raise DataError(f"{name}: there is a header but no row")
    if blank:
        notes.append(f"blank lines skipped: {blank}")
    return header, rows, lines


def _checked_header(name: str, line: int, fields: list[str]) -> list[str]:
    header = [field.strip() for field in fields]
    for place, column in enumerate(header):
        if not column and place > 0:
            raise DataError(f"{name}:{line}: field {place + 1} of the header is empty, name it")
        if column in header[:place]:
            first = header.index(column) + 1
            raise DataError(
                f"{name}:{line}: column {column!r} stands twice in the header, "
                f"as field {first} and field {place + 1}"
            )
    return header


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


def _leave_out_row_names(name: str, columns: dict[str, list[str]], notes: list[str]) -> None:
    """Take out the row names that R and pandas write, the one column without a name."""
    cells = columns.pop("")
    if len(set(cells)) < len(cells):
        raise DataError(f"{name}:1: field 1 of the header is empty, name it")
    if not columns:
        raise DataError(f"{name}:1: there is no column but the unnamed one")
    notes.append("the unnamed first column is left out, every value is different (id-like)")


def _read_decimal_commas(columns: dict[str, list[str]], notes: list[str]) -> None:
    """Beside semicolons 1,5 is one and a half, as spreadsheets write it in half the world."""
    for column, cells in columns.items():
        present = [cell for cell in cells if cell]
        commas = [cell for cell in present if "," in cell]
        if not commas:
            continue
        good = sum(as_number(cell.replace(",", ".", 1)) is not None for cell in present)
        if good >= CLEAR_SHARE * len(present):
            columns[column] = [cell.replace(",", ".", 1) for cell in cells]
            notes.append(f"{column}: decimal commas were read as points, as in {commas[0]!r}")
