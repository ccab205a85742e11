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
    """Read a file by its ending."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    packed = endings[-1:] == [".gz"]
    ending = "".join(endings[:-1] if packed else endings)[-len(endings[-1]) :] if endings else ""
    _check_file(path)
    if ending in _PARQUET_ENDINGS and not packed:
        return parquet_table(path)
    if ending not in _TEXT_ENDINGS:
        raise DataError(
            f"{path.name}: cannot read {''.join(endings) or 'a file without an ending'!r}, "
            "wanted .csv, .tsv, .csv.gz, .tsv.gz or .parquet"
        )
    content = _unpacked(path) if packed else _bytes_of(path)
    return parse_delimited(path.name, content, delimiter=_TEXT_ENDINGS[ending])
