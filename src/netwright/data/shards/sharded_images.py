"""Images in shards: read and decoded when a batch wants them, in an order that keeps to places.

Shapes: N samples of all shards.
"""

import hashlib
import json
from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.data.images.encoder import ImageEncoder
from netwright.data.loading.piece_order import Pieces
from netwright.data.loading.stored import StoredInputs
from netwright.data.shards.parquet_samples import BLOCK
from netwright.data.shards.sample_index import SampleIndex
from netwright.data.shards.sharded_pixels import ShardedPixels

STRETCH = 2**22  # bytes of a tar file that are a piece
TAR_BLOCK = 2**30  # bytes of the pieces that are mixed: the system's cache holds them, not we

FETCHING = 1800.0  # seconds that a worker may take to copy a shard from elsewhere


class ShardedImages(StoredInputs):
    """The images of all shards, one after the other.

    Args:
        pixels: of the samples.
        encoder: how an image is decoded and scaled.
        held: bytes of shards that are at hand at once; 0: all of them.
    """

    def __init__(
        self,
        pixels: ShardedPixels,
        encoder: ImageEncoder,
        *,
        held: int = 0,
    ) -> None:
        self.pixels, self.encoder = pixels, encoder
        self.files, self.indices = pixels.files, pixels.indices
        self.fetching = FETCHING if held else 0.0
        # Pieces are counted by the bytes of their images, of which a file has more, or fewer.
        images = sum(int(index.sizes.sum()) for index in self.indices)
        whole = sum(shard.size for shard in self.files.shards)
        held = max(1, held * images // whole) if 0 < held < whole else 0
        self._pieces = _pieces(self.indices, is_tar=pixels.is_tar, held=held)

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `StoredInputs.shape`."""
        return self.encoder.input_shape

    @property
    def pieces(self) -> Pieces:
        """See `StoredInputs.pieces`: stretches of tar files, row groups of parquet files."""
        return self._pieces

    def __repr__(self) -> str:
        return f"ShardedImages({len(self):,} samples in {len(self.files)} shards)"

    def read(self, rows: Tensor) -> Tensor:
        """See `StoredInputs.read`; a bad image is refused by its shard and its name there."""
        return self.encoder.scaling.encode(self.pixels.read(rows, self.encoder.form))

    def fingerprint(self) -> str:
        """The sha256 of the sums of all shards and of how images are encoded; nothing is read."""
        parts = [[index.sha256 for index in self.indices], self.encoder.to_json()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _pieces(indices: Sequence[SampleIndex], *, is_tar: bool, held: int) -> Pieces:
    ends, sizes, files = [], [], []
    before = 0
    for number, index in enumerate(indices):
        if is_tar:
            stretch = (index.sizes.cumsum(0) - index.sizes) // STRETCH
            _, counts = torch.unique_consecutive(stretch, return_counts=True)
            within = counts.cumsum(0)
            total = torch.cat((torch.zeros(1, dtype=torch.int64), index.sizes.cumsum(0)))[within]
            size = total.diff(prepend=torch.zeros(1, dtype=torch.int64))
        else:
            within = torch.cat((index.starts[1:], torch.tensor([len(index)])))
            size = index.sizes
        ends.append(within + before)
        sizes.append(size)
        files.append(torch.full_like(within, number))
        before += len(index)
    return Pieces(
        ends=torch.cat(ends),
        sizes=torch.cat(sizes),
        files=torch.cat(files),
        block=TAR_BLOCK if is_tar else BLOCK,
        held=held,
    )
