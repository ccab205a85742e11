"""Tables for models that learned from arrays: the columns of a file, a row or rows as numbers.

Shapes: N rows.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.spec import DataSpec
from netwright.data.tables.cells import numbers_of
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.reading import read_table


def is_tabular(source: Any) -> bool:
    """Whether this is a table: a path, a row as a dict, a list of rows, or a raw table."""
    if isinstance(source, list):
        return bool(source) and all(isinstance(row, Mapping) for row in source)
    return isinstance(source, str | Path | Mapping | RawTable)


def read_input_array(source: Any, spec: DataSpec) -> NDArray[np.float64]:
    """The inputs in a table (N, ...): the columns of the features; for images, all in their order.

    Args:
        source: what `is_tabular` says yes to.
        spec: of the data that was learned from.
    """
    table = read_table(source)
    names = spec.feature_names or tuple(table.columns)
    if len(names) != spec.num_features:
        raise DataError(
            f"{table.name} must have {spec.num_features} columns, got {len(table.columns)} "
            f"({listed(table.columns)})"
        )
    table.check_columns(names)
    columns = [numbers_of(table, name) for name in names]
    for name, values in zip(names, columns, strict=True):
        for row in np.flatnonzero(np.isnan(values)):
            raise table.refusal(int(row), name, "the value is missing")
    return np.stack(columns, axis=1).reshape(len(table), *spec.input_shape)


def read_labelled_table(source: Any, spec: DataSpec) -> RawTable:
    """The table with the columns of the features and of the targets; what it lacks is refused."""
    table = read_table(source)
    table.check_columns([*spec.feature_names, *spec.target_names])
    return table


def read_target_array(source: Any, spec: DataSpec) -> NDArray[Any]:
    """The targets in a table, from the columns named like them: text (N,), or numbers (N, K)."""
    table = read_table(source)
    if spec.target == "class":
        return np.array(table.column(spec.target_names[0]))
    return np.stack([numbers_of(table, name) for name in spec.target_names], axis=1)
