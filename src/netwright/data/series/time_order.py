"""The order of time: rows go forward, and what is learned from comes before what is tested on.

Shapes: N windows, each with the row that it forecasts.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.tables.cells import as_date, dates_of, fitting_date_forms, numbers_of
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.splitting import Division, divide_by_column


def check_forward(table: RawTable, column: str) -> None:
    """Refuse a column of times (numbers or dates) that is not larger in every row than before."""
    times = _times(table, column)
    for row, (before, after) in enumerate(pairwise(times), start=1):
        if not after > before:
            cells = table.column(column)
            wrong = f"{cells[row]!r} must come after {cells[row - 1]!r}, the previous row"
            raise table.refusal(row, column, wrong)


def _times(table: RawTable, column: str) -> list[float]:
    cells = table.column(column)
    if "" in cells:
        raise table.refusal(cells.index(""), column, "the time is missing")
    forms = fitting_date_forms(Counter(cells)) if table.numbers(column) is None else []
    if not forms:
        return [float(time) for time in numbers_of(table, column)]
    dates = dates_of(table, column, forms[0])
    # By one clock: by that of this machine, 3:00 would not come after 2:30 where summer begins.
    return [date.replace(tzinfo=UTC).timestamp() for date in dates if date is not None]


def find_unordered_dates(table: RawTable) -> Iterator[str]:
    """The columns of dates that, however they are read, do not go forward in some row."""
    for column, cells in table.columns.items():
        present = [cell for cell in cells if cell]
        forms = fitting_date_forms(Counter(present))
        readings = ([as_date(cell, form) for cell in present] for form in forms)
        known = [[date for date in dates if date is not None] for dates in readings]
        if known and all(dates != sorted(dates) for dates in known):
            yield column


def divide_in_time(count: int, *, val_size: float, test_size: float) -> Division:
    """The first windows train, the next ones choose, the last ones test.

    Args:
        count: windows, in the order of time.
        val_size: share for validation.
        test_size: share for the test.
    """
    if val_size + test_size >= 1:
        raise ConfigError(f"val_size + test_size must be less than 1, got {val_size} + {test_size}")
    num_val, num_test = round(count * val_size), round(count * test_size)
    sizes = [count - num_val - num_test, num_val, num_test]
    if sizes[0] < 1:
        raise DataError(f"{count} windows are too few for {num_val} validation and {num_test} test")
    parts = torch.split(torch.arange(count), sizes)
    return dict(zip(("train", "val", "test"), parts, strict=True))


def divide_windows(table: RawTable, rows: Tensor, column: str, *, val_size: float) -> Division:
    """The windows whose forecast row a column gives to train, val or test.

    Where it gives none to val, the last `val_size` of the training windows are.

    Args:
        table: all rows.
        rows: the row that each window forecasts (N,).
        column: names the part of each row.
        val_size: share of the training windows.
    """
    by_row = divide_by_column(table, column, named=True)
    _check_parts_follow(table, column, by_row)
    found = {
        name: torch.from_numpy(np.flatnonzero(np.isin(rows, part))) for name, part in by_row.items()
    }
    if not len(found["train"]):
        raise DataError(f"{table.name}: column {column!r} leaves no window to train on")
    if len(found["val"]):
        return found
    inner = divide_in_time(len(found["train"]), val_size=val_size, test_size=0)
    return found | {name: found["train"][inner[name]] for name in ("train", "val")}


def _check_parts_follow(table: RawTable, column: str, parts: Division) -> None:
    """Refuse rows that train after rows that test: windows look back, and would see them."""
    latest, before = -1, ""
    for name, part in parts.items():
        if not len(part):
            continue
        if int(part.min()) < latest:
            wrong = (
                f"a row of {name} comes before one of {before}; splits must be in "
                f"chronological order"
            )
            raise table.refusal(int(part.min()), column, wrong)
        latest, before = int(part.max()), name
