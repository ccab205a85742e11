"""From whatever a user has to a raw table: a path, a frame, rows as dicts."""

import gzip
import os
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.core.checks import nearest
from netwright.core.errors import DataError
from netwright.core.files.regular_file import check_regular
from netwright.data.files.file_content import read_content
from netwright.data.tables.cached.remote_table import local_table
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.frames import frame_table, is_frame, parquet_table, rows_table
from netwright.data.tables.number_marks import read_marks, rewritten_columns
from netwright.data.tables.parquet_folder import (
    PARQUET_ENDINGS,
    is_parquet_folder,
    parquet_folder_table,
)
from netwright.data.tables.raw_table import RawTable

SPREADSHEETS = frozenset({".xlsx", ".xls", ".xlsm", ".ods", ".numbers"})
# Ending -> the delimiter; "" asks the header.
TEXT_ENDINGS = {".csv": "", ".txt": "", ".data": "", ".tsv": "\t", ".tab": "\t"}


def is_table(source: Any) -> bool:
    """Whether `read_table` reads this, and it is no column or array of values."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(row, Mapping) for row in source)
    is_read = isinstance(source, str | os.PathLike | Mapping | RawTable)
    return is_read or is_frame(source) or hasattr(source, "__dataframe__")


def read_table(source: Any, dialect: Dialect | None = None) -> RawTable:
    """Read a table.

    Args:
        source: the path or address of a file (.csv, .tsv, either with .gz, .parquet) or of a
            folder of .parquet files, a pandas frame or what turns into one, a row as a dict, a list
            of such rows, or a raw table, which is read.
        dialect: how it is written; None: in the usual way, and there is no setting for it.
    """
    if isinstance(source, RawTable):
        return source
    if isinstance(source, str | os.PathLike):
        return read_file(local_table(source), dialect)
    is_rows = isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source)
    if isinstance(source, Mapping) or is_rows:
        return with_plain_numbers(rows_table(source if is_rows else [source]), dialect)
    return with_plain_numbers(frame_table(source), dialect)


def read_file(path: Path, dialect: Dialect | None = None) -> RawTable:
    """Read a file by its ending, `.csv.gz` is unpacked first; or a folder of parquet files."""
    if is_parquet_folder(path):
        return with_plain_numbers(parquet_folder_table(path), dialect)
    _check_file(path)
    packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if ending in PARQUET_ENDINGS and not packed:
        return with_plain_numbers(parquet_table(path), dialect)
    if ending not in TEXT_ENDINGS:
        kind = f"a {ending} file" if ending else "a file without an ending"
        hint = "; save it as CSV" if ending in SPREADSHEETS else ""
        wanted = "wanted .csv, .tsv, .csv.gz, .tsv.gz or .parquet"
        raise DataError(f"{path.name}: cannot read {kind}, {wanted}{hint}")
    content, delimiter = _content(path), TEXT_ENDINGS[ending]
    return parse_delimited(path.name, content, delimiter=delimiter, dialect=dialect)


def with_plain_numbers(table: RawTable, dialect: Dialect | None) -> RawTable:
    """A table of cells whose numbers, where they are text, are written in this way."""
    if dialect is None or not dialect.thousands:
        return table
    cells = {
        name: table.column(name)
        for name in table.columns
        if table.types.get(name) not in {"int", "float"}  # a number's point is decimal
    }
    columns, notes = read_marks(cells, dialect.thousands, decimal_commas=False)
    return replace(
        table,
        columns={**table.columns, **columns},
        notes=(*table.notes, *notes),
        thousands=dialect.thousands,
        written=rewritten_columns(cells, columns),
    )


def _check_file(path: Path) -> None:
    if os.path.isdir(path):  # a path's own `is_dir` raises where the name is too long
        raise DataError(f"{path} is a folder, wanted a table file (.csv, .tsv, .parquet)")
    if not os.path.exists(path):
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        raise DataError(f"{path}: there is no such file{nearest(path.name, siblings)}")
    check_regular(path)


def _content(path: Path) -> bytes:
    try:
        return read_content(path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path.name}: the gzip file is truncated or damaged") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
