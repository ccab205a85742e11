"""A source as it lies there, before a loader fills in, leaves out or refuses: columns and files."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.config import Config
from netwright.data.checkup.bad_files import find_bad_images, find_bad_texts
from netwright.data.checkup.columns import (
    Column,
    LeaveOut,
    array_columns,
    find_constant_columns,
    find_doubted_categories,
    find_id_columns,
    find_missing_values,
    needed_column,
    table_columns,
)
from netwright.data.checkup.examination import Examination, Unseen, examined
from netwright.data.checkup.wording import counted
from netwright.data.dataset import Data
from netwright.data.images.folder import ImageFolderConfig
from netwright.data.images.layout import find_images
from netwright.data.images.pair_files import find_pairs, part_folders
from netwright.data.images.pairs import PairsConfig
from netwright.data.raw_arrays import column_names, read_array
from netwright.data.series.table import SeriesConfig
from netwright.data.sparse_rows import SparseRows, rows_of
from netwright.data.tables.large.large_table import is_read_in_parts
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table
from netwright.data.tables.splitting import find_split_column
from netwright.data.tables.table import TableConfig
from netwright.data.text.conllu import CONLLU
from netwright.data.text.corpus import TextConfig
from netwright.data.text.tagged import TaggedFilesConfig
from netwright.data.text.text_files import PLAIN, find_files
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.text_table import TextTableConfig

LEAST_ROWS = 5  # of fewer, columns tell nothing
# Settings that let a loader go on where it would refuse: what it leaves out is told here.
FORGIVING: dict[str, Any] = {
    "on_bad": "skip",
    "most_bad": 0.999,
    "drop_missing_target": True,
    "drop_missing_text": True,
}


def look_at_source(source: Any, config: Config | None) -> Examination:
    """Look at columns and files.

    Args:
        source: a frame, arrays (inputs, targets) or data; None where the config has a path.
        config: the settings of the source; None for data that is ready.
    """
    if isinstance(config, TableConfig | TextTableConfig | SeriesConfig):
        if source is None and not config.path:
            return Examination()  # the loader says what is missing
        return _of_table(config.path if source is None else source, config)
    if isinstance(config, ImageFolderConfig | PairsConfig | TextConfig | TaggedFilesConfig):
        return _of_files(config) if config.path else Examination()
    if isinstance(source, Data) and source.spec.feature_names:
        values = source.train.inputs.cpu().numpy()
        return _of_array(values, source.spec.feature_names)
    if isinstance(source, tuple):
        return _of_inputs(source[0])
    return _NO_COLUMNS


_NO_COLUMNS = Examination(
    not_looked_at=(
        "constant and id-like columns and missing cells, which is for your own tables and arrays",
    )
)


def look_at_columns(columns: Sequence[Column], leave_out: LeaveOut, see: str) -> Examination:
    """What is wrong with columns.

    Args:
        columns: as they were seen.
        leave_out: columns -> how the source is loaded without them.
        see: what explains how such columns are read.
    """
    return examined(
        f"constant and id-like columns and missing cells in {counted(len(columns), 'column')}",
        find_constant_columns(columns, leave_out, see),
        find_id_columns(columns, leave_out, see),
        find_doubted_categories(columns, see),
        find_missing_values(columns, leave_out, see),
    )


def _of_table(source: Any, config: TableConfig | TextTableConfig | SeriesConfig) -> Examination:
    if isinstance(config, TextTableConfig):
        rows = read_text_rows(source, config.encoding)
        needed = [] if config.drop_missing_text else [(config.text, _DROP_TEXT)]
        of_texts = [needed_column(rows, *one) for one in (*needed, *_needed_targets(config))]
        return look_at_columns(of_texts, _without_it, "text-table")
    if isinstance(config, TableConfig) and is_read_in_parts(config):
        return examined("columns", Unseen("the file is larger than data.in_memory_gb"))
    table = read_table(source, config.dialect).with_missing(config.missing)
    if len(table) < LEAST_ROWS:
        return examined("columns", Unseen(counted(len(table), "row")))
    if isinstance(config, SeriesConfig):
        return _of_series(table, config)
    apart = {*config.target, *config.drop, config.weight_column, config.group_column}
    apart.add(find_split_column(table, config.split_column))
    learned = [name for name in table.columns if name not in apart]
    columns = (
        *table_columns(table, learned, config.types, is_in_time=False),
        *(needed_column(table, *one) for one in _needed_targets(config)),
    )
    return look_at_columns(columns, lambda names: setting("drop", [*config.drop, *names]), "table")


def _of_series(table: RawTable, config: SeriesConfig) -> Examination:
    apart = {config.time, find_split_column(table, config.split_column)}
    read = [
        name
        for name in config.features or table.columns
        if name not in apart and table.numbers(name) is not None
    ]
    learned = [name for name in read if name not in config.target]
    return look_at_columns(
        table_columns(table, learned, config.types, is_in_time=True),
        lambda names: setting("features", [name for name in read if name not in names]),
        "series",
    )


def setting(name: str, values: Sequence[str]) -> str:
    """The option that gives a list of names to a setting of the data, ready for a shell."""
    if any("," in value for value in values):
        return (
            f"data.{name} in a recipe file, as the name has a comma: {name}: {json.dumps(values)}"
        )
    listed = ",".join(values)
    return f"--set {shlex.quote(f'data.{name}={listed}')}"


def _without_it(names: Sequence[str]) -> str:
    return f"take {', '.join(repr(name) for name in names)} away"


_DROP_TARGET = "--drop-missing-target"
_DROP_TEXT = "--set data.drop_missing_text=true"


def _needed_targets(config: TableConfig | TextTableConfig) -> list[tuple[str, str]]:
    """The targets, each with what is to be given where it is missing, unless it was given."""
    return [] if config.drop_missing_target else [(name, _DROP_TARGET) for name in config.target]


def _of_inputs(inputs: Any) -> Examination:
    if isinstance(rows_of(inputs), SparseRows):
        return _NO_COLUMNS  # to look at all of it would make it dense
    values = read_array("inputs", inputs)
    if values.ndim != 2 or values.dtype.kind not in "biuf" or not len(values):
        return _NO_COLUMNS
    names = column_names(inputs) or tuple(f"x{place}" for place in range(values.shape[1]))
    return _of_array(values.astype(np.float64), names)


def _of_array(values: NDArray[np.floating], names: Sequence[str]) -> Examination:
    if len(values) < LEAST_ROWS:
        return examined("columns", Unseen(counted(len(values), "row")))
    return look_at_columns(array_columns(values, names), _without_it, "parameter-counts")


def _of_files(
    config: ImageFolderConfig | PairsConfig | TextConfig | TaggedFilesConfig,
) -> Examination:
    root = Path(config.path).expanduser()
    if isinstance(config, TextConfig):
        files = find_files(root, PLAIN)
        finding = find_bad_texts(files, "text", config.encoding)
    elif isinstance(config, TaggedFilesConfig):
        files = find_files(root, CONLLU)
        finding = find_bad_texts(files, "tagged")
    elif isinstance(config, PairsConfig):
        pairs = [pair for folder in part_folders(root).values() for pair in find_pairs(folder)]
        files = [file for pair in pairs for file in (pair.image, pair.mask)]
        finding = find_bad_images(files, "", "segmentation")
    else:
        files = _images(root, config)
        skips = "data.on_bad=skip, as given," if config.on_bad == "skip" else _SKIP
        skipping = f"; {skips} skips them, up to a fraction of data.most_bad"
        finding = find_bad_images(files, skipping, "images")
    return examined(f"whether {counted(len(files), 'file')} can be read", finding)


_SKIP = "--set data.on_bad=skip"


def _images(root: Path, config: ImageFolderConfig) -> list[Path]:
    found = find_images(
        root,
        target=config.target,
        target_kind=config.target_kind,
        split_column=config.split_column,
    )
    return list(found.files)
