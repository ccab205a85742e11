"""Which rows of a tensor a rank holds."""

import torch

from netwright.train.engines.part import rows_of
from tests.repetition import for_each


@for_each("count, world", [(8, 4), (7, 3), (5, 4), (1, 3), (0, 2), (9, 8)])
def test_ranks_hold_the_chunks_of_torch(count: int, world: int) -> None:
    rows = torch.arange(count)
    own = [rows[rows_of(count, rank, world)] for rank in range(world)]
    assert torch.equal(torch.cat(own), rows)
    for ours, theirs in zip(own, torch.chunk(rows, world), strict=False):
        assert torch.equal(ours, theirs)
