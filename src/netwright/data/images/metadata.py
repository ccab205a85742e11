"""The table beside a folder's images: `metadata.csv` or `metadata.jsonl`, one row a file.

The column `file_name` holds paths relative to the folder; the other columns are what to predict
and, where there is one, the split.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from netwright.core.errors import DataError
from netwright.core.files.json_text import json_value
from netwright.data.files.file_content import read_content
from netwright.data.files.file_encoding import decode_bytes
from netwright.data.files.file_names import shown
from netwright.data.tables.frames import rows_table
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table

FILE_NAME = "file_name"
NAMES = ("metadata.csv", "metadata.jsonl")


def find_metadata(folder: str | Path) -> Path | None:
    """The table of a folder, where it has one."""
    found = [path for path in (Path(folder, name) for name in NAMES) if path.is_file()]
    if len(found) > 1:
        raise DataError(f"{shown(folder)} holds {' and '.join(NAMES)}, wanted one of them")
    return found[0] if found else None


def read_metadata(path: Path) -> RawTable:
    """The rows of the table; every one names a file below the folder, and no two the same."""
    table = _read_lines(path) if path.suffix == ".jsonl" else read_table(path)
    names = table.column(FILE_NAME)
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if not name:
            raise table.refusal(row, FILE_NAME, "the name is missing")
        if os.path.isabs(name) or Path(os.path.normpath(name)).parts[0] == os.pardir:
            raise table.refusal(
                row, FILE_NAME, f"the file must lie below the folder, got {shown(name)}"
            )
        if name in seen:
            first = table.row_name(seen[name])
            raise table.refusal(row, FILE_NAME, f"{shown(name)} is already in {first}")
        seen[name] = row
    return table


def rows_of(table: RawTable, folder: Path, files: Sequence[Path]) -> RawTable:
    """The rows of these files, in their order; a file without a row is refused."""
    row_of = {folder / name: row for row, name in enumerate(table.column(FILE_NAME))}
    for file in files:
        if file not in row_of:
            raise DataError(f"{table.name} has no row for {shown(file)}")
    return table.take([row_of[file] for file in files])


def _read_lines(path: Path) -> RawTable:
    rows = []
    try:
        content = read_content(path)
    except OSError as error:
        raise DataError(f"{shown(path)} cannot be read: {error.strerror}") from None
    text, _ = decode_bytes(path.name, content)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json_value(line)
        except ValueError as error:
            raise DataError(f"{path.name}:{number}: the line is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise DataError(f"{path.name}:{number}: wanted an object, got {type(row).__name__}")
        rows.append(row)
    return rows_table(rows, path.name)
