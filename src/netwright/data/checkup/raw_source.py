"""A source as it lies there, before a loader fills in, leaves out or refuses: columns and files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netwright.core.config import Config
from netwright.data.checkup.bad_files import find_bad_images, find_bad_texts
from netwright.data.checkup.columns import (
    Column,
    array_columns,
    find_constant_columns,
    find_id_columns,
    find_missing_values,
    needed_column,
    table_columns,
)
from netwright.data.checkup.examination import Examination, examined
from netwright.data.dataset import Data
from netwright.data.images.folder import ImageFolderConfig
from netwright.data.images.layout import find_images
from netwright.data.images.pair_files import find_pairs, part_folders
from netwright.data.images.pairs import PairsConfig
from netwright.data.raw_arrays import column_names, read_array
from netwright.data.series.table import SeriesConfig
from netwright.data.tables.reading import read_table
from netwright.data.tables.splitting import find_split_column
from netwright.data.tables.table import TableConfig
from netwright.data.text.conllu import CONLLU
from netwright.data.text.corpus import TextConfig
from netwright.data.text.tagged import TaggedFilesConfig
from netwright.data.text.text_files import PLAIN, find_files
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.text_table import TextTableConfig

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
        return look_at_columns(_table_columns(config.path if source is None else source, config))
    if isinstance(config, ImageFolderConfig | PairsConfig | TextConfig | TaggedFilesConfig):
        return _of_files(config) if config.path else Examination()
    if isinstance(source, Data) and source.spec.feature_names:
        values = source.train.inputs.cpu().numpy()
        return look_at_columns(array_columns(values, source.spec.feature_names))
    if isinstance(source, tuple):
        return look_at_columns(_input_columns(source[0]))
    return Examination()


def look_at_columns(columns: Sequence[Column]) -> Examination:
    """What is wrong with columns."""
    if not columns:
        return Examination()
    return examined(
        f"constant, id-like and missing cells in {len(columns)} columns",
        find_constant_columns(columns),
        find_id_columns(columns),
        find_missing_values(columns),
    )


def _table_columns(
    source: Any, config: TableConfig | TextTableConfig | SeriesConfig
) -> tuple[Column, ...]:
    if isinstance(config, TextTableConfig):
        rows = read_text_rows(source)
        text = needed_column(rows, config.text, "--set data.drop_missing_text=true")
        return (text, *(needed_column(rows, name, _DROP_TARGET) for name in config.target))
    table = read_table(source).with_missing(config.missing)
    apart = {*config.target, find_split_column(table, config.split_column)}
    if isinstance(config, SeriesConfig):
        names = config.features or tuple(table.columns)
        learned = [name for name in names if name not in {*apart, config.time}]
        return table_columns(table, learned, config.types, is_in_time=True)
    apart |= {*config.drop, config.weight_column}
    learned = [name for name in table.columns if name not in apart]
    return (
        *table_columns(table, learned, config.types, is_in_time=False),
        *(needed_column(table, name, _DROP_TARGET) for name in config.target),
    )


_DROP_TARGET = "--drop-missing-target"


def _input_columns(inputs: Any) -> tuple[Column, ...]:
    values = read_array("inputs", inputs)
    if values.ndim != 2 or values.dtype.kind not in "biuf" or not len(values):
        return ()
    names = column_names(inputs) or tuple(f"x{place}" for place in range(values.shape[1]))
    return array_columns(values.astype(np.float64), names)


def _of_files(
    config: ImageFolderConfig | PairsConfig | TextConfig | TaggedFilesConfig,
) -> Examination:
    root = Path(config.path).expanduser()
    if isinstance(config, TextConfig | TaggedFilesConfig):
        files = find_files(root, PLAIN if isinstance(config, TextConfig) else CONLLU)
        finding = find_bad_texts(files)
    else:
        files = _images(root, config)
        finding = find_bad_images(files)
    return examined(f"whether {len(files):,} files can be read", finding)


def _images(root: Path, config: ImageFolderConfig | PairsConfig) -> list[Path]:
    if isinstance(config, PairsConfig):
        pairs = [pair for folder in part_folders(root).values() for pair in find_pairs(folder)]
        return [file for pair in pairs for file in (pair.image, pair.mask)]
    found = find_images(
        root,
        target=config.target,
        target_kind=config.target_kind,
        split_column=config.split_column,
    )
    return list(found.files)
