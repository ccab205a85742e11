"""Frames, and tables in files, with rows beside them."""

from pathlib import Path
from typing import Any

import pandas as pd

from netwright.data.given.frames import FRAME
from netwright.data.given.given import Given
from netwright.data.tables.table import TableConfig
from netwright.data.text.text_table import TextTableConfig

ROWS = pd.DataFrame(
    {"text": ["a fine film", "a dull film"] * 4, "size": range(8), "kind": ["b", "s"] * 4}
)
SIZES: dict[str, Any] = {"val_size": 0.0, "test_size": 0.0}


def test_with_text_a_frame_is_one_that_has_a_text_in_each_row() -> None:
    assert FRAME.settings(ROWS, {}) is TableConfig
    assert FRAME.settings(ROWS, {"text": "text"}) is TextTableConfig


def test_validation_rows_of_a_frame_and_of_files_are_the_same(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "train.csv", index=False)
    ROWS[:3].to_csv(tmp_path / "val.csv", index=False)
    for config in (
        TableConfig(target=("kind",), drop=("text",), **SIZES),
        TextTableConfig(text="text", target=("kind",), **SIZES),
    ):
        framed = FRAME.load(Given(data=ROWS, validation=ROWS[:3]), config)
        paths = Given(data=tmp_path / "train.csv", validation=str(tmp_path / "val.csv"))
        filed = FRAME.load(paths, config)
        assert filed.name == "train.csv"
        assert framed.split("val").inputs.equal(filed.split("val").inputs)
        assert framed.split("val").inputs.equal(framed.train.inputs[:3])
        assert filed.split("val").targets.tolist() == [0, 1, 0]
