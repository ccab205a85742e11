"""The pictures of samples in shards, decoded from where an index says that they lie.

Shapes: N samples of all shards, B images read together, C channels, I rows, J columns.
"""

import os
from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.data.images.decoding import ImageForm, decode_content
from netwright.data.shards.parquet_samples import ParquetImages
from netwright.data.shards.sample_index import SampleIndex
from netwright.data.shards.shard_files import ShardFiles


class ShardedPixels:
    """The samples of all shards, one after the other.

    Args:
        files: the shards.
        indices: of each.
        column: of images, in parquet files.
    """

    def __init__(
        self, files: ShardFiles, indices: Sequence[SampleIndex], *, column: str = ""
    ) -> None:
        self.files, self.indices = files, tuple(indices)
        self.is_tar = files.shards[0].is_tar
        self._ends = torch.tensor([len(index) for index in indices]).cumsum(0)
        self._parquet = ParquetImages(files, column)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def read(self, rows: Tensor, form: ImageForm) -> Tensor:
        """The bytes (B, C, I, J) of some images; a bad one is refused by its shard and its name."""
        shards = torch.searchsorted(self._ends, rows, right=True)
        found = []
        for number, row in zip(shards.tolist(), rows.tolist(), strict=True):
            place = row - int(self._ends[number]) + len(self.indices[number])
            content, name = self._content(number, place)
            found.append(decode_content(content, form, name))
        return torch.stack(found)

    def _content(self, number: int, place: int) -> tuple[bytes, str]:
        """The file of an image, and what refusals call it."""
        index, address = self.indices[number], self.files.shards[number].address
        if self.is_tar:
            start, size = int(index.starts[place]), int(index.sizes[place])
            content = self.files.read(number, start - 512, 512 + size)  # its name is before it
            name = content[:100].partition(b"\0")[0].decode(errors="replace")
            return content[512:], f"{address}: {os.path.normpath(name)}"
        group = int(torch.searchsorted(index.starts, place, right=True)) - 1
        row = place - int(index.starts[group])
        return self._parquet.read(number, group, row), f"{address}: row {place}"
