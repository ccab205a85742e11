"""A table file that is larger than memory as data: two passes over its parts, then rows on disk.

The first pass keeps the columns that settings name (targets, weights, groups, split) of all rows,
and all columns of a sample of rows. Rows are divided as those of any table; columns are inferred
and fitted on the training rows of the sample. The second pass encodes every row into a file, which
training reads a batch at a time; what does not fit the inference is refused by its line. The file
lies in the cache, as long as there is room for it (`kept_tables`): the same table with the same
settings is converted once.

What is held at a time is a part, the sample, and a few numbers a row, however many columns it has.

Shapes: N rows of the file.
"""

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.config import to_mapping
from netwright.core.errors import DataError
from netwright.core.files.storage import new_folder
from netwright.core.version import VERSION
from netwright.data.dataset import Data
from netwright.data.files.locations import made_cache
from netwright.data.tables.cached.kept_tables import lock_of, make_room, mark_used
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.large.file_parts import file_size, table_parts
from netwright.data.tables.large.joined_columns import JoinedColumns
from netwright.data.tables.large.joined_notes import JoinedNotes
from netwright.data.tables.large.stored_table import EncodedRows, read_stored_table, write_table
from netwright.data.tables.parquet_folder import is_parquet_folder, parquet_files
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.splitting import AUTOMATIC
from netwright.data.tables.table import (
    TableConfig,
    check_settings,
    column_notes,
    divide_rows,
    fit_encoder,
)

# Raised whenever the same file is read or encoded otherwise: what was converted before is not used.
READING = 4
SAMPLE = 2**27  # bytes of the file by which columns are inferred and fitted


def is_read_in_parts(config: TableConfig) -> bool:
    """Whether the file of a table is larger than what is read into memory."""
    return file_size(_path(config)) > config.in_memory_gb * 1e9


def load_large_table(config: TableConfig, encoder: TableEncoder | None = None) -> Data:
    """The data of a file, converted where that has not been done before.

    Args:
        config: the settings.
        encoder: of a run that was trained with these; None: fitted on the training rows.
    """
    path = _path(config)
    cache = made_cache("tables", "a large table is converted to")
    inferred = cache / _key(path, config)
    if encoder is None:
        return _converted(path, config, inferred)
    if inferred.exists():
        data = _converted(path, config, inferred)
        if data.preprocessor == encoder:
            return data
    return _converted(path, config, cache / _key(path, config, encoder), encoder)


def _converted(
    path: Path, config: TableConfig, folder: Path, encoder: TableEncoder | None = None
) -> Data:
    with lock_of(folder):  # ranks of one run ask for it at once
        removed = () if folder.exists() else _convert(path, config, folder, encoder)
        mark_used(folder)
        data = read_stored_table(folder)
    if not removed:
        return data
    kept = f"converted tables of more than {config.cache_gb:g} GB are not kept (data.cache_gb)"
    note = f"{kept}: removed from the cache, the longest unused: {listed(removed)}"
    return replace(data, notes=(*data.notes, note))


def _path(config: TableConfig) -> Path:
    return Path(config.path).expanduser()


def _key(path: Path, config: TableConfig, encoder: TableEncoder | None = None) -> str:
    """A name that another file, other settings or another encoder do not have."""
    files = parquet_files(path) if is_parquet_folder(path) else [path]
    stamps = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    settings = to_mapping(config) | dict.fromkeys(("in_memory_gb", "cache_gb"))
    settings |= {"path": str(path.resolve())}
    parts = [settings, stamps, VERSION, READING, None if encoder is None else encoder.to_json()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _convert(
    path: Path, config: TableConfig, folder: Path, known: TableEncoder | None
) -> tuple[str, ...]:
    """Write the rows of a file to the cache; gives the tables that were removed for them."""
    keys, sample = _first_pass(path, config)
    rows = divide_rows(keys, config, None if known is None else known.target)
    is_kept, trains = np.zeros((2, len(keys)), np.bool_)
    places = np.asarray(rows.table.positions)
    is_kept[places] = True
    trains[places[rows.division["train"].numpy()]] = True
    sampled = sample.take(np.flatnonzero(is_kept[np.asarray(sample.positions)]))
    is_training = trains[np.asarray(sampled.positions)]
    encoder = known or fit_encoder(sampled, np.flatnonzero(is_training), rows, config)
    is_all = len(sampled) == len(places)
    seen = "all rows" if is_all else f"{len(sampled):,} of the {len(places):,} rows"
    by = seen if known is None else "an earlier run"
    later = sampled.take(np.flatnonzero(~is_training))
    notes = (
        *rows.notes,
        f"larger than {config.in_memory_gb:g} GB: read in parts and kept in the cache, as "
        f"tables/{folder.name}; columns are inferred and scaled by {by}",
        *column_notes(encoder, later),
    )
    inputs = EncodedRows(
        _encoded(path, config, encoder, is_kept), (len(places), len(encoder.feature_names))
    )
    removed = make_room(folder.parent, len(inputs), config.cache_gb * 1e9)
    with new_folder(folder, needs=len(inputs)) as staging:
        write_table(staging, inputs, rows, encoder, notes)
    return removed


def _first_pass(path: Path, config: TableConfig) -> tuple[RawTable, RawTable]:
    """The columns of all rows that settings name, and all columns of some rows.

    Where a column turns out not to be of plain numbers in all parts, how these are written tells
    what it is: the pass is made again, and its texts are kept.
    """
    as_text = {name for name, kind in config.types.items() if kind != "number"}
    keys, sample, notes = _parts_read(path, config, as_text)
    mixed = keys.mixed | sample.mixed
    if mixed:
        keys, sample, notes = _parts_read(path, config, as_text | mixed)
    return keys.table(path.name, notes), sample.table(path.name)


def _parts_read(
    path: Path, config: TableConfig, as_text: Collection[str]
) -> tuple[JoinedColumns, JoinedColumns, tuple[str, ...]]:
    """What is kept of all parts, and what was repaired in them.

    Args:
        path: of the file.
        config: the settings.
        as_text: columns whose texts are kept, also where they are numbers.
    """
    share = SAMPLE / file_size(path)
    random = np.random.default_rng(config.split_seed)
    keys = sample = None
    notes = JoinedNotes()
    for part in table_parts(path, config.dialect):
        if keys is None or sample is None:
            check_settings(part, config)
            keys = JoinedColumns(_key_columns(part, config), {*_written_keys(config), *as_text})
            sample = JoinedColumns(list(part.columns), as_text)
        notes.add(part.notes)
        read = part.with_missing(config.missing)
        keys.add(read)
        sample.add(read, np.flatnonzero(random.random(len(part)) < share))
    if keys is None or sample is None:
        raise DataError(f"{path.name}: there is a header but no row")
    return keys, sample, notes.notes()


def _key_columns(table: RawTable, config: TableConfig) -> list[str]:
    named = [*config.target, config.weight_column, config.group_column, config.split_column]
    automatic = [AUTOMATIC] if AUTOMATIC in table.columns else []
    return [name for name in dict.fromkeys([*named, *automatic]) if name is not None]


def _written_keys(config: TableConfig) -> list[str]:
    """Those of which 7 and 007 are two: names of classes, groups and splits."""
    named = [config.group_column, config.split_column, AUTOMATIC]
    classes = config.target if config.target_kind in {"class", "labels"} else ()
    return [*classes, *(name for name in named if name is not None)]


def _encoded(
    path: Path, config: TableConfig, encoder: TableEncoder, is_kept: NDArray[np.bool_]
) -> Iterator[Tensor]:
    """The rows that have their targets, part by part, as the model takes them."""
    end = 0
    for part in table_parts(path, config.dialect):
        start, end = end, end + len(part)
        rows = np.flatnonzero(is_kept[start:end])
        if end > len(is_kept):
            break
        yield encoder.encode(part if len(rows) == len(part) else part.take(rows))
    if end != len(is_kept):
        raise DataError(f"{path.name} was changed while it was read: train again")
