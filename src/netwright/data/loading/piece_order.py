"""An order of rows in which those that are read one after the other lie near each other.

    files     in an order that is drawn, in sets that a cache holds at once
    pieces    of the files of a set, in an order that is drawn, in blocks of so many bytes
    rows      of the pieces of a block, in an order that is drawn

A piece is what is read at a time: a stretch of a tar file, a row group of a parquet file. So a
batch has rows of many places of many files, and a file is read once an epoch. The order is a
permutation of the rows, and follows from the generator alone.

Shapes: N rows, P pieces.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Where rows are stored.

    Args:
        ends: the rows up to the end of each piece (P,), in the order in which they are stored.
        sizes: bytes of each piece (P,).
        files: the number of the file that each lies in (P,), from 0 on.
        block: bytes of the pieces whose rows are mixed.
        held: bytes of the files that are at hand at once; 0: all of them.
    """

    ends: Tensor
    sizes: Tensor
    files: Tensor
    block: int
    held: int = 0

    def order(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """The places 0 ... N - 1 of these rows (N,), in an order that is drawn."""
        turns = self._turns_of_files(random)[self.files]  # of each piece
        drawn = torch.randperm(len(self.ends), generator=random)
        drawn = drawn[turns[drawn].argsort(stable=True)]
        blocks = torch.empty_like(drawn)
        blocks[drawn] = (self.sizes[drawn].cumsum(0) - self.sizes[drawn]) // self.block
        blocks += turns * (int(blocks.max()) + 1)  # none has files of two sets
        places = torch.randperm(len(rows), generator=random)
        pieces = torch.searchsorted(self.ends, rows[places], right=True)
        return places[blocks[pieces].argsort(stable=True)]

    def _turns_of_files(self, random: torch.Generator) -> Tensor:
        """The number of the set that each file is in."""
        count = int(self.files.max()) + 1
        turns = torch.zeros(count, dtype=torch.int64)
        if self.held:
            sizes = torch.zeros_like(turns).index_add_(0, self.files, self.sizes)
            drawn = torch.randperm(count, generator=random)
            turns[drawn] = (sizes[drawn].cumsum(0) - sizes[drawn]) // self.held
        return turns
