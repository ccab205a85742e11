"""Pictures of samples are read from the shard and the place that their rows name."""

from pathlib import Path

import torch

from netwright.data.images.decoding import decode_content
from netwright.data.shards.sharded_images import ShardedImages
from tests.data.shards.written_shards import load, picture, write_tar


def test_rows_of_any_order_are_read_across_shards(folder: Path) -> None:
    write_tar(folder / "a.tar", range(5))
    write_tar(folder / "b.tar", range(5, 12))
    stored = load(folder, val_size=0, test_size=0).train.stored  # type: ignore[attr-defined]
    assert isinstance(stored, ShardedImages)
    pixels, form = stored.pixels, stored.encoder.form
    assert len(pixels) == 12
    rows = [11, 0, 5, 4]
    wanted = [decode_content(picture(row), form, "") for row in rows]
    assert torch.equal(pixels.read(torch.tensor(rows), form), torch.stack(wanted))
