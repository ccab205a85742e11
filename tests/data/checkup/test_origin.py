"""Rows of loaded data, found again where they stand in their source."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.checkup.origin import Origin
from netwright.data.dataset import Data
from netwright.data.tables.table import TableConfig, from_frame
from netwright.data.tables.table_file import load_table
from tests.data.checkup.rows import data_of, numbered

ROWS = 60


def frame() -> pd.DataFrame:
    """All rows differ, but the last equals the first."""
    number = [*range(ROWS - 1), 0]
    table = pd.DataFrame({"a": np.sin(number), "b": [f"k{one % 7}" for one in number]})
    return table.assign(y=np.where(table["a"] > 0, "up", "down"))


def places_of_each(data: Data, origin: Origin) -> set[str]:
    return {
        origin.places(data, split, [row]) for _, split in data.splits() for row in range(len(split))
    }


def test_a_row_of_a_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False)
    config = TableConfig(path=str(path), target=("y",))
    told = places_of_each(load_table(config), Origin(config=config))
    assert told == {" (line 2 = 61)", *(f" (line {row + 2})" for row in range(1, ROWS - 1))}


def test_rows_without_a_target_are_counted_too(tmp_path: Path) -> None:
    table = frame()
    table.loc[3, "y"] = None
    config = TableConfig(target=("y",), drop_missing_target=True)
    told = places_of_each(from_frame(table, config), Origin(source=table, config=config))
    kept = set(range(1, ROWS - 1)) - {3}
    assert told == {" (row 0 = 59)", *(f" (row {row})" for row in kept)}


def test_the_line_that_is_named_holds_the_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False)
    config = TableConfig(path=str(path), target=("y",))
    data = load_table(config)
    lines = path.read_text(encoding="utf-8").splitlines()
    for row in range(len(data.train)):
        (cells,) = data.preprocessor.decode(data.train.inputs[[row]])
        said = Origin(config=config).places(data, data.train, [row])
        line = lines[int(said.split()[1].rstrip(")")) - 1].split(",")
        assert float(line[0]) == pytest.approx(float(cells["a"]), abs=1e-4)
        assert line[1] == cells["b"]


def test_a_row_of_arrays_is_named_by_its_place() -> None:
    inputs = np.random.default_rng(0).normal(size=(40, 3))
    targets = np.arange(40) % 2
    data = from_arrays(inputs, targets, config=ArraysConfig())
    told = places_of_each(data, Origin(source=(inputs, targets), config=ArraysConfig()))
    assert told == {f" (row {row})" for row in range(40)}


def test_weights_beside_arrays_change_no_place(tmp_path: Path) -> None:
    inputs, targets = numbered(8).numpy(), np.arange(8) % 2
    data = from_arrays(inputs, targets, config=ArraysConfig(val_size=0.0, test_size=0.0))
    weighted = Origin(source=(inputs, targets, np.ones(8)))
    assert weighted.places(data, data.train, [3]) == " (row 3)"


def test_a_mapped_array_is_not_read_to_name_its_rows(tmp_path: Path) -> None:
    inputs, targets = numbered(8).numpy(), np.arange(8) % 2
    np.save(tmp_path / "x.npy", inputs)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    data = from_arrays(mapped, targets, config=ArraysConfig(val_size=0.0, test_size=0.0))
    assert Origin(source=(mapped, targets)).places(data, data.train, [3]) == ""


def test_equal_inputs_of_other_targets_are_other_rows() -> None:
    inputs = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0)
    targets = np.arange(40) % 2
    data = from_arrays(inputs, targets, config=ArraysConfig(val_size=0.0, test_size=0.0))
    origin = Origin(source=(inputs, targets))
    row = int(torch.nonzero(data.train.targets == 1)[0])
    assert " = " in origin.places(data, data.train, [row])
    assert " = " not in origin.places(data, data.train, [row], with_targets=True)


def test_where_the_source_is_not_at_hand_no_row_is_named() -> None:
    data = data_of((numbered(8), [0, 1] * 4))
    assert Origin().places(data, data.train, [0, 1]) == ""


def test_a_setting_is_named_only_where_the_source_has_it() -> None:
    assert Origin(config=TableConfig()).takes("split_column")
    assert not Origin(config=ArraysConfig()).takes("split_column")
    assert not Origin().takes("split_column")
    assert (Origin(config=TableConfig()).see("mlp"), Origin().see("mlp")) == ("table", "mlp")
