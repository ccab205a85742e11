"""A frame of inputs and its targets apart from it, as scikit-learn has them: (frame, series).

A frame of numbers alone is an array (see `data/given/arrays.py`). One with text, dates or missing
cells is a table: the targets become columns of it, and its columns are read as those of any table.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.data.given.arrays import check_same_form, is_pair
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.held_out import add_splits
from netwright.data.given.table_groups import with_groups
from netwright.data.raw_arrays import NUMBERS
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.frames import is_frame, with_columns
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.targets import infer_kind, read_targets


def is_labelled_frame(source: Any) -> bool:
    """Whether this is a frame that is no plain array of numbers, with its targets."""
    return is_pair(source) and is_frame(source[0]) and not _is_array(source[0])


def _is_array(frame: Any) -> bool:
    values = np.asarray(frame)
    has_gaps = values.dtype.kind == "f" and bool(np.isnan(values).any())
    return values.dtype.kind in NUMBERS and not has_gaps


def _load(given: Given, config: TableConfig) -> Data:
    check_same_form(given, "(frame, targets[, weights])")
    for setting in ("target", "weight_column"):
        if getattr(config, setting) and (setting == "target" or len(given.data) > 2):
            raise ConfigError(f"{setting} is set and stands beside the frame: leave out one")
    frame, targets, *weights = given.data
    table, names = with_columns(read_table(frame, config.dialect), "target", targets)
    # The dtype decides, as for arrays: a table has text alone, and would look at the values.
    kind = infer_kind(read_targets(targets))[0] if config.target_kind == "auto" else None
    config = replace(config, target=names, target_kind=kind or config.target_kind)
    if weights:
        table, (column,) = with_columns(table, "weight", weights[0])
        config = replace(config, weight_column=column)
    data = from_frame(*with_groups(table, config, given.groups))
    if weights and isinstance(data.preprocessor, TableEncoder):  # new rows need not have any
        data = replace(data, preprocessor=replace(data.preprocessor, weight_column=None))
    return add_splits(data, given)


def _settings(_pair: Any, _given: Mapping[str, Any]) -> type[Config]:
    return TableConfig


LABELLED_FRAME = GivenForm(
    name="(frame, targets[, weights])",
    recognises=is_labelled_frame,
    settings=_settings,
    load=_load,
)
