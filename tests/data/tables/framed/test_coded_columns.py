"""Categories that are numbers, in pandas, in Arrow and in parts of a large table."""

import pandas as pd
import pyarrow as pa

from netwright.data.tables.frames import frame_table
from netwright.data.tables.large.joined_columns import JoinedColumns


def test_categories_that_are_numbers_are_categories_in_every_package() -> None:
    codes = pd.DataFrame(
        {
            "area": pd.Categorical([75, 13, 75, None]),
            "text": pd.Categorical(["1", "2", "1", "2"]),
            "number": [75, 13, 75, 13],
        }
    )
    assert frame_table(codes).coded == {"area"}
    assert frame_table(codes).columns["area"] == ["75", "13", "75", ""]
    arrow = pa.Table.from_pandas(codes)
    assert frame_table(arrow).coded == {"area"}
    assert frame_table(arrow.to_pandas()).coded == {"area"}
    joined = JoinedColumns(["area", "text", "number"])
    joined.add(frame_table(codes))
    assert joined.table("parts").coded == {"area"}
