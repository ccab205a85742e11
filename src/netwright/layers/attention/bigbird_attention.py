r"""BigBird: blocks of tokens read their neighbours, the global blocks and a few drawn by chance.

    block i reads block j   where |i - j| <= 1,   or i < g,   or j < g,   or j was drawn for i

The first g blocks read all and are read by all, so that any two tokens are two steps apart; the
drawn ones, r for each other block, follow from the seed. Rows that are not global need
(g + 3 + r) b keys, whatever the length. `bigbird_mask` is the same rule as one (T, T) mask, for the
plain formula. It reads both ways: drawn blocks lie before and behind. A place where padding is
reads itself, so that no softmax is over nothing. The layer draws once, among the blocks of the
longest text, so that padding behind a text does not change what is drawn for it.

Shapes: B batch, H heads, T positions, K features of a head, b places of a block, N = ceil(T / b)
blocks, M = g + 3 + r of them read by one.
Source: Zaheer et al., "Big Bird: Transformers for Longer Sequences" (2020), sections 2 and A.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import generator
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores
from netwright.layers.attention.fused_attention import fused_attention
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.self_attention import SelfAttention, counted_keys

NEAR = 3  # a block and its neighbours
NONE = -1  # no block
BOTH_WAYS = "BigBird's attention reads both ways: it cannot be causal, nor say what comes next"


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


def shortened(table: Tensor, count: int) -> Tensor:
    """The same for a text of fewer blocks, of which none behind its last is read."""
    return table[:count].masked_fill(table[:count] >= count, NONE)


def bigbird_mask(length: int, blocks: BigBirdBlocks, table: Tensor | None = None) -> Tensor:
    """(T, T): True where a query may read a key; by a table of a longer text where it is given."""
    _check_blocks(blocks)
    count = -(-length // blocks.size)
    table = bigbird_table(count, blocks) if table is None else shortened(table, count)
    places = torch.arange(count, device=table.device)
    pairs = (table[:, :, None] == places).any(dim=1)  # (N, N)
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
    counted: Tensor | None = None,
    dropout: float = 0.0,
    table: Tensor | None = None,
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        blocks: which blocks are read.
        scale: of the scores; 1 / sqrt(K) where None.
        counted: the keys that may be read (B, T); all where None.
        dropout: share of the weights dropped.
        table: of `bigbird_table` for a text of at least as many blocks; drawn where None.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    _check_blocks(blocks)
    length, size, device = queries.shape[2], blocks.size, queries.device
    count = -(-length // size)
    table = bigbird_table(count, blocks) if table is None else shortened(table, count)
    table = table.to(device)
    places = (table[:, :, None] * size + torch.arange(size, device=device)).flatten(1)  # (N, M b)
    is_read = (table != NONE).repeat_interleave(size, dim=1) & (places < length)
    allowed = is_read[None, :, None].expand(len(queries), -1, -1, -1)  # (B, N, 1, M b)
    if counted is not None:
        asking = torch.arange(count * size, device=device).view(count, size, 1)
        itself = (asking == places[:, None]) & is_read[:, None]  # (N, b, M b)
        known = counted[:, places.clamp(0, length - 1)] & is_read  # (B, N, M b)
        allowed = known[:, :, None] | itself

    def in_blocks(x: Tensor) -> Tensor:
        filled = functional.pad(x, (0, 0, 0, -length % size))
        return filled.view(*x.shape[:2], count, size, -1).transpose(1, 2)  # (B, N, H, b, K)

    def read_blocks(x: Tensor) -> Tensor:
        read = in_blocks(x)[:, table.clamp_min(0)]  # (B, N, M, H, b, K)
        return read.transpose(2, 3).flatten(3, 4)  # (B, N, H, M b, K)

    # Blocks lie beside each other in the batch: fused kernels take four dimensions.
    near = fused_attention(
        in_blocks(queries).flatten(0, 1),
        read_blocks(keys).flatten(0, 1),
        read_blocks(values).flatten(0, 1),
        attn_mask=allowed.flatten(0, 1)[:, None],
        dropout_p=dropout,
        scale=scale,
    )
    near = near.view(-1, count, *near.shape[1:]).transpose(1, 2).flatten(2, 3)[:, :, :length]
    first = min(blocks.global_blocks * size, length)
    whole = fused_attention(
        queries[:, :, :first],
        keys,
        values,
        attn_mask=None if counted is None else _or_itself(counted, first),
        dropout_p=dropout,
        scale=scale,
    )
    return torch.cat((whole, near[:, :, first:]), dim=2)


class BigBirdAttention(SelfAttention[None]):
    """Each position reads the blocks that the rule gives to its own; masks are (B, 1, T).

    Args:
        width: D.
        heads: H; divides D.
        blocks: which blocks are read.
        longest: tokens of the longest text.
        settings: those of every `SelfAttention`; it cannot be causal.
    """

    table: Tensor

    def __init__(
        self, width: int, heads: int, *, blocks: BigBirdBlocks, longest: int, **settings: Any
    ) -> None:
        super().__init__(width, heads, **settings)
        _check_blocks(blocks)
        if self.causal:
            raise ConfigError(BOTH_WAYS)
        self.blocks, self.longest = blocks, longest
        with torch.device("cpu"):  # drawn there, also where the weights are only described
            table = bigbird_table(-(-longest // blocks.size), blocks)
        self.register_buffer("table", table, persistent=False)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        self._check(x, score_bias)
        queries, keys, values = self._split(zero_unread(x, mask))
        heads = bigbird_attention(
            queries,
            self._for_all_heads(keys),
            self._for_all_heads(values),
            self.blocks,
            scale=self.scale,
            counted=counted_keys(mask),
            dropout=self.dropout if self.training else 0.0,
            table=self.table,
        )
        return self._joined(heads)

    def start(self, batch: int, size: int) -> None:
        """Refused: what comes next would be read as well."""
        raise ConfigError(BOTH_WAYS)

    def extend(
        self, x: Tensor, cache: None, score_bias: Tensor | None = None
    ) -> tuple[Tensor, None]:
        """Refused, as `start` is."""
        raise ConfigError(BOTH_WAYS)

    def attention_weights(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, T)."""
        self._check(x, score_bias)
        queries, keys, _ = self._split(zero_unread(x, mask))
        rule, counted = bigbird_mask(x.shape[1], self.blocks, self.table), counted_keys(mask)
        rule = rule.to(x.device)
        allowed = rule if counted is None else rule & _or_itself(counted, x.shape[1])
        scores = self.scale * dot_scores(queries, self._for_all_heads(keys))
        return masked_softmax(scores, allowed)

    def _check(self, x: Tensor, score_bias: Tensor | None) -> None:
        if score_bias is not None:
            raise ConfigError("BigBird's attention takes no bias of its scores")
        if x.shape[1] > self.longest:
            raise ShapeError(f"texts have at most {self.longest} tokens here, got {x.shape[1]}")


def _or_itself(counted: Tensor, queries: int) -> Tensor:
    """Which keys the first queries may read where some do not count, (B, T) -> (B, 1, Q, T)."""
    itself = torch.eye(queries, counted.shape[1], dtype=torch.bool, device=counted.device)
    return (counted[:, None] | itself)[:, None]


def _check_blocks(blocks: BigBirdBlocks) -> None:
    for name, least in (("size", 1), ("global_blocks", 0), ("random_blocks", 0)):
        if getattr(blocks, name) < least:
            raise ConfigError(f"{name} must be at least {least}, got {getattr(blocks, name)}")
