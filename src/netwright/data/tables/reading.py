"""From whatever a user has to a raw table: a path, a frame, rows as dicts."""

import gzip
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.core.checks import nearest
from netwright.core.errors import DataError
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.frames import frame_table, parquet_table, rows_table
from netwright.data.tables.raw_table import RawTable

# Ending -> the delimiter; "" asks the header.
_TEXT_ENDINGS = {".csv": "", ".txt": "", ".data": "", ".tsv": "\t", ".tab": "\t"}
_PARQUET_ENDINGS = {".parquet", ".pq"}


def read_table(source: Any) -> RawTable:
    """Read a table.

    Args:
        source: the path of a file (.csv, .tsv, either with .gz, .parquet), a pandas frame or what
            turns into one, a row as a dict, a list of such rows, or a raw table.
    """
    if isinstance(source, RawTable):
        return source
    if isinstance(source, str | os.PathLike):
        return read_file(Path(source).expanduser())
    if isinstance(source, Mapping):
        return rows_table([source])
    if isinstance(source, list | tuple) and all(isinstance(row, Mapping) for row in source):
        return rows_table(source)
    return frame_table(source)


def read_file(path: Path) -> RawTable:
    """Read a file by its ending; `.csv.gz` is unpacked first."""
    _check_file(path)
    packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    if ending in _PARQUET_ENDINGS and not packed:
        return parquet_table(path)
    if ending not in _TEXT_ENDINGS:
        kind = f"a {ending} file" if ending else "a file without an ending"
        raise DataError(
            f"{path.name}: cannot read {kind}, wanted .csv, .tsv, .csv.gz, .tsv.gz or .parquet"
        )
    return parse_delimited(path.name, _content(path, packed), delimiter=_TEXT_ENDINGS[ending])


def _check_file(path: Path) -> None:
    if os.path.isdir(path):  # a path's own `is_dir` raises where the name is too long
        raise DataError(f"{path} is a folder, wanted a table file (.csv, .tsv, .parquet)")
    if not os.path.exists(path):
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        raise DataError(f"{path}: there is no such file{nearest(path.name, siblings)}")


def _content(path: Path, packed: bool) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if packed else content
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path.name}: the gzip file is cut off or damaged") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
