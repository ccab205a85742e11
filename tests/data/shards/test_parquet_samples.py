"""Samples of parquet files: columns, row groups, and files that are not whole."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netwright.core.errors import DataError, RunError
from netwright.data.loading.worker_loader import build_loader
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
