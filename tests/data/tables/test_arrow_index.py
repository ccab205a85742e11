"""The index of a pandas frame, which an Arrow table holds as columns."""

import pandas as pd
import pyarrow as pa
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.frames import frame_table

FRAME = pd.DataFrame({"key": ["p", "q", "r"], "a": [1, 2, 4], "b": [0.5, 1.5, 2.5]})


@pytest.mark.parametrize(
    "frame",
    [FRAME, FRAME.iloc[[0, 2, 1]], FRAME.set_index("key"), FRAME.set_index(["key", "a"])],
    ids=["range", "rows", "named", "two"],
)
def test_the_index_of_a_frame_is_no_column_of_its_arrow_table(frame: pd.DataFrame) -> None:
    assert frame_table(pa.Table.from_pandas(frame)) == frame_table(frame)


def test_an_index_that_was_put_away_again_is_nothing_to_leave_out() -> None:
    table = pa.Table.from_pandas(FRAME.set_index("key"))
    assert list(frame_table(table.drop_columns(["key"])).columns) == ["a", "b"]
    assert list(frame_table(table.replace_schema_metadata()).columns) == ["a", "b", "key"]


def test_columns_of_one_name_are_refused_all_the_same() -> None:
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(DataError, match="column 'a' appears twice"):
        frame_table(table)
