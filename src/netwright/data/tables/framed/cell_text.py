"""The text of one value of a frame, as a table has it in its cell."""

from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from netwright.data.tables.column_cells import number_text


def cell_text(value: Any) -> str:
    """The text of one value, "" where it is missing.

    A duration is its seconds, a period the moment it starts, an interval what pandas calls it, and
    bytes are the text that they hold, as SciPy gives the columns of an ARFF file.
    """
    if type(value) is str:  # most cells are
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):  # nanoseconds are no time of Python's
        value = value.astype(f"{type(value).__name__}[us]").item()
    if isinstance(value, np.generic):  # first: np.float64 is a float whose repr has its name in it
        value = value.item()
    kind = type(value).__name__
    if kind == "Period":
        value = value.start_time
    if value is None or kind in {"NAType", "NaTType"}:
        return ""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, bytes):
        return _decoded(value)
    # A list or a picture is no cell: a column of them is left out as such.
    is_cell = isinstance(value, str | int | Decimal | UUID) or kind == "Interval"
    return str(value) if is_cell else f"<{kind}>"


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "<bytes>"
