"""The text of one value: times of every package, bytes, and what is no cell."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from netwright.data.tables.framed.cell_text import cell_text
from netwright.data.tables.frames import frame_table
from tests.repetition import for_each

DAY = np.datetime64("2020-01-02T03:04:05.5")


@for_each(
    ("value", "text"),
    [
        (timedelta(minutes=1, milliseconds=500), "60.5"),
        (timedelta(days=-1), "-86400"),
        (pd.Timedelta("1 day"), "86400"),
        (np.timedelta64(1500, "ms"), "1.5"),
        (np.timedelta64(2, "s").astype("timedelta64[ns]"), "2"),
        (np.timedelta64("NaT", "s"), ""),
        (DAY.astype("datetime64[ns]"), "2020-01-02T03:04:05.500000"),
        (np.datetime64("NaT", "ns"), ""),
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, tzinfo=UTC), "2020-01-02T00:00:00+00:00"),
        (time(3, 4), "03:04:00"),
        (pd.Period("2020-02", "M"), "2020-02-01T00:00:00"),
        (pd.Interval(0.5, 1.5), "(0.5, 1.5]"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (b"caf\xc3\xa9", "caf\u00e9"),
        (np.bytes_(b"yes"), "yes"),
        (b"\xff\xd8\xff", "<bytes>"),
        ([1], "<list>"),
        (1j, "<complex>"),
    ],
)
def test_a_value_is_written_as_what_it_is(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_durations_of_every_package_are_seconds_and_a_note_says_so() -> None:
    polars = pytest.importorskip("polars")
    given = [timedelta(seconds=90), None, timedelta(days=1)]
    wanted = {"took": ["90", "", "86400"]}
    for frame in (
        pd.DataFrame({"took": pd.to_timedelta(pd.Series(given))}),
        polars.DataFrame({"took": given}),
        pa.table({"took": given}),
    ):
        table = frame_table(frame)
        assert table.columns == wanted
        assert table.notes == ("took: durations, read as seconds",)
