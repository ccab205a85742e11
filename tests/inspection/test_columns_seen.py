"""Columns as they were seen: in the units they came in, with what was done to them."""

from pathlib import Path

import numpy as np
import pytest

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.bundled import DIGITS
from netwright.data.tables.table import TableConfig, load_table
from netwright.inspection.columns_seen import MOST_COLUMNS, describe_columns


def test_arrays_are_told_in_their_own_units() -> None:
    inputs = np.column_stack([np.arange(10.0), 1000 * np.arange(10.0), np.full(10, 7.0)])
    data = from_arrays(inputs, inputs[:, 0], config=ArraysConfig(val_size=0, test_size=0))
    rows = describe_columns(data)
    assert rows[1] == {
        "column": "x1",
        "smallest": "0",
        "mean": "4500",
        "largest": "9000",
        "standard deviation": "2872",
    }
    assert rows[2]["smallest"] == rows[2]["largest"] == "7"
    assert rows[2]["standard deviation"] == "0"


def test_images_are_told_as_one() -> None:
    (row,) = describe_columns(DIGITS.load(DIGITS.config()))
    assert row["column"] == "image of 1 x 8 x 8"
    assert (row["smallest"], row["largest"]) == ("0", "16")


def test_tables_tell_kinds_and_gaps(tmp_path: Path) -> None:
    lines = [f"{row if row % 2 else ''},{'ab'[row % 2]},{row % 3}" for row in range(20)]
    (tmp_path / "t.csv").write_text("size,colour,kind\n" + "\n".join(lines) + "\n")
    config = TableConfig(path=str(tmp_path / "t.csv"), target=("kind",), val_size=0, test_size=0)
    size = next(row for row in describe_columns(load_table(config)) if row["column"] == "size")
    assert (size["kind"], size["missing"], size["different values"]) == ("number", "10", "10")
    assert "with an indicator column" in size["what was done"]


@pytest.mark.parametrize("count", [MOST_COLUMNS, MOST_COLUMNS + 5])
def test_very_many_columns_are_cut(count: int) -> None:
    inputs = np.random.default_rng(0).normal(size=(30, count))
    data = from_arrays(inputs, inputs[:, 0], config=ArraysConfig())
    assert len(describe_columns(data)) == MOST_COLUMNS
