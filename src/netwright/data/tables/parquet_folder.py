"""A table in several parquet files of a folder: its rows are those of all files, by their names."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.limits import CONTENT, FILES
from netwright.data.files.folder_links import check_no_links
from netwright.data.tables.frames import frame_table, opened_parquet, parquet_frame
from netwright.data.tables.raw_table import RawTable, listed

PARQUET_ENDINGS = (".parquet", ".pq")


def is_parquet_folder(path: str | Path) -> bool:
    """Whether this is a folder with parquet files right below it."""
    return os.path.isdir(path) and any(
        name.lower().endswith(PARQUET_ENDINGS) and not name.startswith(".")
        for name in os.listdir(path)
    )


def parquet_files(folder: Path) -> list[Path]:
    """The files of a folder by their names; none may have other columns than the first."""
    files = sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in PARQUET_ENDINGS and not file.name.startswith(".")
    )
    check_no_links(files)
    FILES.check(folder, len(files))
    _check_alike(files)
    return files


def parquet_folder_table(folder: Path) -> RawTable:
    """All rows in memory; needs pandas and pyarrow."""
    import pandas as pd  # noqa: PLC0415 - optional, and slow to import

    frames, size = [], 0
    for file in parquet_files(folder):
        frame = parquet_frame(file)
        size += int(frame.memory_usage(deep=False).sum())
        CONTENT.check(folder.name, size / 1e9, "takes")
        frames.append(frame)
    return frame_table(pd.concat(frames, ignore_index=True), folder.name)


def _check_alike(files: Sequence[Path]) -> None:
    wanted: dict[str, str] = {}
    for file in files:
        found = _columns(file)
        wanted = wanted or found
        if set(found) != set(wanted):
            raise DataError(
                f"{file.name} has the columns {listed(list(found))}, {files[0].name} has "
                f"{listed(list(wanted))}: a folder of parquet files is one table"
            )
        for name, kind in found.items():
            if kind != wanted[name]:
                raise DataError(
                    f"{file.name} has {kind} in column {name!r}, {files[0].name} has "
                    f"{wanted[name]}: a folder of parquet files is one table"
                )


def _columns(file: Path) -> dict[str, str]:
    """The columns of a file, and in short what is in them."""
    with opened_parquet(file) as opened:
        return {field.name: _kind(field.type) for field in opened.schema_arrow}


def _kind(kind: Any) -> str:
    import pyarrow.types as pt  # noqa: PLC0415 - it is there where a file was opened

    is_number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)
    return "numbers" if is_number or pt.is_null(kind) else "other values than numbers"
