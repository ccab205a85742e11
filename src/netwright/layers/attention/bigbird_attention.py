r"""BigBird: blocks of tokens read their neighbours, the global blocks and a few drawn by chance.

    block i reads block j   where |i - j| <= 1,   or i < g,   or j < g,   or j was drawn for i

The first g blocks read all and are read by all, so that any two tokens are two steps apart; the
drawn ones, r for each other block, follow from the seed. Rows that are not global need
(g + 3 + r) b keys, whatever the length. `bigbird_mask` is the same rule as one (T, T) mask, for the
plain formula. It reads both ways: drawn blocks lie before and behind.

Shapes: B batch, H heads, T positions, K features of a head, b places of a block, N = ceil(T / b)
blocks, M = g + 3 + r of them read by one.
Source: Zaheer et al., "Big Bird: Transformers for Longer Sequences" (2020), sections 2 and A.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator

NEAR = 3  # a block and its neighbours
NONE = -1  # no block


class BigBirdBlocks(NamedTuple):
    """Which blocks are read.

    Args:
        size: b, places of a block.
        global_blocks: g, how many of the first read all and are read by all.
        random_blocks: r, how many more each of the others reads.
        seed: what is drawn follows from it.
    """

    size: int
    global_blocks: int = 1
    random_blocks: int = 1
    seed: int = 0


def bigbird_table(count: int, blocks: BigBirdBlocks) -> Tensor:
    """The blocks (N, M) that each of N reads; -1 where it reads fewer, as at the ends.

    A row of a global block has only what the rule gives to the others too; it reads all besides.
    """
    _check_blocks(blocks)
    rng = generator(blocks.seed, "bigbird", count)
    table = torch.full((count, blocks.global_blocks + NEAR + blocks.random_blocks), NONE)
    for block in range(count):
        near = {other for other in (block - 1, block, block + 1) if 0 <= other < count}
        read = sorted(near | set(range(min(blocks.global_blocks, count))))
        others = torch.tensor([other for other in range(count) if other not in read])
        drawn = others[torch.randperm(len(others), generator=rng)[: blocks.random_blocks]]
        read += sorted(drawn.tolist())
        table[block, : len(read)] = torch.tensor(read)
    return table


def bigbird_mask(length: int, blocks: BigBirdBlocks) -> Tensor:
    """(T, T): True where a query may read a key."""
    _check_blocks(blocks)
    count = -(-length // blocks.size)
    table = bigbird_table(count, blocks)
    pairs = (table[:, :, None] == torch.arange(count)).any(dim=1)  # (N, N)
    pairs[: blocks.global_blocks] = True
    each = pairs.repeat_interleave(blocks.size, dim=0).repeat_interleave(blocks.size, dim=1)
    return each[:length, :length]


def bigbird_pairs(count: int, blocks: BigBirdBlocks) -> int:
    """Pairs of query and key among N whole blocks: (g N + (N - g)(g + 3 + r) - 2) b^2.

    A block at either end of those that are not global has one neighbour less. Where there are not
    enough blocks to draw from, N < g + 3 + r, all pairs are read.
    """
    size, first, drawn, _ = blocks
    if count < first + NEAR + drawn:
        return (count * size) ** 2
    return (first * count + (count - first) * (first + NEAR + drawn) - 2) * size**2


def bigbird_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    blocks: BigBirdBlocks,
    *,
    scale: float | None = None,
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        blocks: which blocks are read.
        scale: of the scores; 1 / sqrt(K) where None.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    _check_blocks(blocks)
    length, size, device = queries.shape[2], blocks.size, queries.device
    count = -(-length // size)
    table = bigbird_table(count, blocks).to(device)
    places = (table[:, :, None] * size + torch.arange(size, device=device)).flatten(1)  # (N, M b)
    is_read = (table != NONE).repeat_interleave(size, dim=1) & (places < length)

    def in_blocks(x: Tensor) -> Tensor:
        filled = functional.pad(x, (0, 0, 0, -length % size))
        return filled.reshape(-1, count, size, x.shape[3])  # (B H, N, b, K)

    def read_blocks(x: Tensor) -> Tensor:
        return in_blocks(x)[:, table.clamp_min(0)].flatten(2, 3)  # (B H, N, M b, K)

    read = functional.scaled_dot_product_attention(
        in_blocks(queries),
        read_blocks(keys),
        read_blocks(values),
        attn_mask=is_read[:, None],
        scale=scale,
    )
    near = read.reshape(*queries.shape[:2], count * size, -1)[:, :, :length]
    first = min(blocks.global_blocks * size, length)
    whole = functional.scaled_dot_product_attention(
        queries[:, :, :first], keys, values, scale=scale
    )
    return torch.cat((whole, near[:, :, first:]), dim=2)


def _check_blocks(blocks: BigBirdBlocks) -> None:
    for name, least in (("size", 1), ("global_blocks", 0), ("random_blocks", 0)):
        if getattr(blocks, name) < least:
            raise ConfigError(f"{name} must be at least {least}, got {getattr(blocks, name)}")
