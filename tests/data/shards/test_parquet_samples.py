"""Samples of parquet files: columns, row groups, and files that are not whole."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from netwright.core.errors import DataError, RunError
from netwright.data.loading.worker_loader import build_loader
from netwright.data.shards.parquet_samples import _values
from tests.data.shards.written_shards import (
    load,
    picture,
    write_parquet,
)


def test_parquet_files_that_are_not_alike_or_not_whole_are_named(folder: Path) -> None:
    path = write_parquet(folder / "a.parquet", range(20))
    content = path.read_bytes()
    pq.write_table(pa.table({"image": [picture(1)], "kind": [1], "x": [2]}), folder / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has no column label.*one of kind, x"):
        load(folder)
    with pytest.raises(DataError, match=r"b\.parquet has no column 'label'; there are kind, x"):
        load(folder, target="label")
    pq.write_table(pa.table({"pixels": [1.0], "label": [1]}), folder / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet must have one column of image files, got 0"):
        load(folder)
    (folder / "b.parquet").write_bytes(content[:-100])
    with pytest.raises(DataError, match=r"b\.parquet is not a readable parquet file"):
        load(folder)
    middle = bytearray(content)
    middle[100:160] = b"\xff" * 60
    (folder / "b.parquet").write_bytes(middle)
    with pytest.raises((DataError, RunError), match=r"b\.parquet"):
        list(build_loader(load(folder, val_size=0, test_size=0).train, 8).epoch(0))
    empty = pq.read_table(path).slice(0, 0)
    pq.write_table(empty, folder / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet holds no sample"):
        load(folder)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([[1], [2]], r"sample 0 must be a text or a number, got \[1\]"),
        ([0.5, float("nan")], "sample 1 must be a text or a number, got nan"),
        (["a", "b" * 1025], "sample 1 has 1,025 characters, at most 1,024 are read"),
    ],
)
def test_what_is_no_label_is_named(folder: Path, labels: list[Any], told: str) -> None:
    table = pa.table({"image": [picture(1), picture(2)], "label": labels})
    pq.write_table(table, folder / "a.parquet")
    with pytest.raises(DataError, match=rf"a\.parquet: the label of {told}"):
        load(folder)


def test_row_groups_may_be_empty(folder: Path) -> None:
    table = pa.table({"image": [picture(n) for n in range(12)], "label": [0, 1] * 6})
    with pq.ParquetWriter(folder / "a.parquet", table.schema) as file:
        for start, rows in ((0, 0), (0, 5), (5, 0), (5, 7), (12, 0)):
            file.write_table(table.slice(start, rows))
    assert pq.ParquetFile(folder / "a.parquet").metadata.num_row_groups == 5
    train = load(folder, val_size=0, test_size=0, normalize="none").train
    red = (train.read(torch.arange(12))[:, 0, 0, 0] * 255).round().long()
    assert sorted(red.tolist()) == list(range(12))
    assert torch.equal(red % 2, train.targets)


def test_a_value_that_repeats_is_unpacked_a_few_times_at_once(folder: Path) -> None:
    rows, size = 4000, 40_000  # 160 MB of labels and 1.3 GB of images in a file of kilobytes
    image = pa.DictionaryArray.from_arrays(
        pa.array([0] * 64, pa.int32()), pa.array([picture(1) + bytes(20_000_000)])
    )
    label = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * size]))
    packed: dict[str, Any] = {"compression": "zstd", "store_schema": False}
    small = pa.table({"image": [picture(1)] * rows, "label": label})
    pq.write_table(small, folder / "a.parquet", **packed)
    before = pa.total_allocated_bytes()
    with pytest.raises(DataError, match="has 40,000 characters, at most"):
        load(folder)
    large = pa.table({"image": image, "label": [0, 1] * 32})
    pq.write_table(large, folder / "a.parquet", dictionary_pagesize_limit=2**30, **packed)
    assert (folder / "a.parquet").stat().st_size < 100_000
    values = _values(pq.ParquetFile(folder / "a.parquet"), 0, "image")
    assert len(next(values)) > 20_000_000
    assert pa.total_allocated_bytes() - before < 200_000_000
    with pytest.raises(DataError, match=r"a\.parquet unpacks to far more than its size"):
        load(folder)


def test_a_row_group_that_is_too_large_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.shards.parquet_samples.MOST_GROUP", 500)
    write_parquet(folder / "a.parquet", range(20), rows=20)
    with pytest.raises(DataError, match=r"a\.parquet has a row group of .* smaller row_group_size"):
        load(folder)


def test_pictures_that_repeat_do_not_fill_the_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.shards.parquet_samples.FREE", 1000)
    image = picture(1) + bytes(100_000)
    pq.write_table(pa.table({"image": [image] * 500, "label": [1] * 500}), folder / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet unpacks to far more than its size"):
        load(folder)
