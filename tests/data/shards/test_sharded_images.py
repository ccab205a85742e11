"""Images in shards as stored inputs: bad ones are named, and runs go on exactly."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import netwright as nw
from netwright.core.errors import RunError
from netwright.data.loading.worker_loader import build_loader
from netwright.data.shards.sample_index import some_places
from tests.data.shards.written_shards import (
    load,
    picture,
    write_members,
    write_tar,
)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["tar", "parquet"])
def test_bytes_that_are_no_image_are_named_by_shard_and_sample(
    folder: Path, kind: str, workers: int
) -> None:
    if kind == "tar":
        images = [picture(n) for n in range(40)]
        bad = min({*range(40)} - {*some_places(40)})  # the others are looked at before
        images[bad] = b"no image"
        members = [(f"{n}.png", image) for n, image in enumerate(images)]
        labels = [(f"{n}.cls", b"%d" % (n % 2)) for n in range(40)]
        pairs = [one for two in zip(members, labels, strict=True) for one in two]
        write_members(folder / "a.tar", pairs)
        named = rf"a\.tar: {bad}\.png"
    else:
        images = [*(picture(n) for n in range(39)), b"no image"]
        table = pa.table({"image": images, "label": [n % 2 for n in range(40)]})
        pq.write_table(table, folder / "a.parquet", row_group_size=10)
        named = r"a\.parquet: row 39"
    train = load(folder, val_size=0, test_size=0).train
    loader = build_loader(train, 40, workers=workers)
    with pytest.raises(RunError, match=rf"{named} cannot be read as an image"):
        list(loader.epoch(0))
    loader.close()


def test_a_run_on_shards_goes_on_with_the_same_bits(folder: Path, tmp_path: Path) -> None:
    write_tar(folder / "a.tar", range(40))
    write_tar(folder / "b.tar", range(40, 60))
    told: Any = {"epochs": 2, "device": "cpu", "batch_size": 8, "quiet": True}
    whole = nw.fit("mlp", str(folder), out=tmp_path / "whole", **told)
    nw.fit("mlp", str(folder), out=tmp_path / "parts", max_steps=8, **told)  # in epoch 2
    again = nw.fit("mlp", str(folder), out=tmp_path / "parts", resume="auto", **told)
    ours, theirs = again.model.state_dict(), whole.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
