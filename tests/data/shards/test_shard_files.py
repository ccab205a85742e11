"""Lists of shards: what is one, links, other kinds, and shards that change under a run."""

import os
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.data.loading.worker_loader import build_loader
from tests.data.shards.written_shards import (
    load,
    write_members,
    write_parquet,
    write_tar,
)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_shard_that_changes_under_a_run_is_named(folder: Path, workers: int) -> None:
    write_tar(folder / "a.tar", range(40))
    data = load(folder, val_size=0, test_size=0)
    write_tar(folder / "a.tar", range(41))
    train = data.train
    train.stored.files._files.open.clear()  # type: ignore[attr-defined] # as a new process has it
    with pytest.raises(RunError, match=r"batch 0 of epoch 0 .*a\.tar has changed since"):
        next(iter(build_loader(train, 8, workers=workers).epoch(0)))


def test_what_is_no_shard_of_images_is_refused_by_its_name(folder: Path) -> None:
    with pytest.raises(DataError, match=r"shards holds no \.tar and no \.parquet file"):
        load(folder)
    (folder / "a.tar.gz").write_bytes(b"")
    with pytest.raises(DataError, match=r"unpack .*a\.tar\.gz to \.tar"):
        load(folder)
    with pytest.raises(ConfigError, match="path is empty"):
        load("")
    write_members(folder / "a.tar", [])
    with pytest.raises(DataError, match=r"a\.tar holds no sample"):
        load(folder)
    write_parquet(folder / "b.parquet", range(4))
    with pytest.raises(DataError, match=r"shards holds \.tar and \.parquet files"):
        load(folder)


def test_links_to_shards_are_not_followed(folder: Path, tmp_path: Path) -> None:
    write_tar(tmp_path / "a.tar", range(3))
    os.symlink(tmp_path / "a.tar", folder / "a.tar")
    with pytest.raises(DataError, match="symbolic link"):
        load(folder)
