"""Columns as they were seen: in the units they came in, with what was done to them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.bundled import DIGITS
from netwright.data.dataset import Data, Split
from netwright.data.pixels import ChannelScaling, PixelSplit
from netwright.data.series.table import SeriesConfig, from_frame
from netwright.data.series.toy_tasks import AddingConfig, load_adding
from netwright.data.spec import DataSpec
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from netwright.inspection.dataset.column_summary import MOST_COLUMNS, describe_columns


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


def test_grey_images_are_told_as_one() -> None:
    (row,) = describe_columns(DIGITS.load(DIGITS.config()))
    assert row["column"] == "pixels of 8 x 8"
    assert (row["smallest"], row["largest"]) == ("0", "16")


def test_images_have_a_row_a_channel() -> None:
    images = np.arange(2 * 3 * 4.0).reshape(2, 3, 2, 2)
    data = from_arrays(images, [0, 1], config=ArraysConfig(val_size=0, test_size=0))
    rows = describe_columns(data)
    assert [row["column"] for row in rows] == [f"pixels of 2 x 2, channel {c}" for c in (1, 2, 3)]
    for channel, row in enumerate(rows):
        assert row["smallest"] == str(4 * channel)
        assert row["mean"] == f"{images[:, channel].mean():g}"
        assert row["largest"] == str(15 + 4 * channel)
        assert row["standard deviation"] == f"{images[:, channel].std():.4g}"


class Unscaled(PixelSplit):
    @property
    def inputs(self) -> Tensor:
        raise AssertionError("pixels are described without floats")


def test_bytes_are_told_as_the_same_numbers_without_making_floats() -> None:
    images = np.random.default_rng(0).integers(3, 250, size=(6, 3, 5, 4), dtype=np.uint8)
    data = from_arrays(
        images, [0, 1] * 3, config=ArraysConfig(val_size=0, test_size=0, factor=1 / 255)
    )
    scaling = ChannelScaling(mean=(0.5,) * 3, scale=(0.25,) * 3)
    pixels = torch.from_numpy(images)
    held = Unscaled(pixels=pixels, scaling=scaling, targets=data.train.targets)
    assert describe_columns(replace(data, train=held)) == describe_columns(data)


def test_tables_tell_kinds_and_gaps(tmp_path: Path) -> None:
    lines = [f"{row if row % 2 else ''},{'ab'[row % 2]},{row % 3}" for row in range(20)]
    (tmp_path / "t.csv").write_text("size,colour,kind\n" + "\n".join(lines) + "\n")
    config = TableConfig(path=str(tmp_path / "t.csv"), target=("kind",), val_size=0, test_size=0)
    size = next(row for row in describe_columns(load_table(config)) if row["column"] == "size")
    assert (size["kind"], size["missing"], size["distinct values"]) == ("number", "10", "10")
    assert "with an indicator column" in size["preprocessing"]


@pytest.mark.parametrize("count", [MOST_COLUMNS, MOST_COLUMNS + 5])
def test_very_many_columns_are_cut(count: int) -> None:
    inputs = np.random.default_rng(0).normal(size=(30, count))
    data = from_arrays(inputs, inputs[:, 0], config=ArraysConfig())
    assert len(describe_columns(data)) == MOST_COLUMNS


def test_a_series_tells_the_columns_of_its_table() -> None:
    rows = [{"height": row / 2, "day": "ab"[row % 2]} for row in range(30)]
    config = SeriesConfig(target=("height",), known=("day",), window=3)
    height, day = describe_columns(from_frame(rows, config))
    assert (height["column"], height["kind"], height["missing"]) == ("height", "number", "0")
    assert (day["column"], day["kind"], day["distinct values"]) == ("day", "category", "2")


def test_a_series_without_a_table_is_told_by_the_numbers_of_its_steps() -> None:
    data = load_adding(AddingConfig(n=50, length=6))
    numbers, marks = describe_columns(data)
    assert (marks["smallest"], marks["largest"]) == ("0", "1")
    assert float(marks["mean"]) == pytest.approx(2 / 6, abs=1e-4)  # two of six steps are marked
    assert float(numbers["largest"]) == pytest.approx(float(data.train.inputs[..., 0].max()))


@pytest.mark.parametrize(("padding", "shortest", "mean"), [(0, "1", "2"), (None, "3", "3")])
def test_tokens_are_told_by_their_number_and_the_length_of_texts(
    padding: int | None, shortest: str, mean: str
) -> None:
    tokens = torch.tensor([[4, 0, 0], [4, 5, 6]])
    spec = DataSpec(
        inputs="tokens",
        input_shape=(3,),
        target="class",
        num_outputs=2,
        vocab_size=9,
        padding=padding,
    )
    encoder = ArrayEncoder(input_shape=(3,), target="class", num_outputs=2)
    split = Split(inputs=tokens, targets=torch.tensor([0, 1]))
    (row,) = describe_columns(Data(name="texts", spec=spec, train=split, preprocessor=encoder))
    assert row == {
        "column": "tokens of 3",
        "known": "9",
        "distinct": "3" if padding == 0 else "4",
        "shortest row": shortest,
        "mean": mean,
        "longest": "3",
    }
