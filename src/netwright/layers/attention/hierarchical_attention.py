r"""Hierarchical attention: places read within their chunk, chunks read each other's summaries.

    local_t = attention of q_t over the keys of its own chunk
    m_j     = mean of local_t over chunk j,    a = softmax of the scores of mean queries and keys
    read_t  = a_{ii} local_t + sum_{j != i} a_{ij} m_j,    t in chunk i

Of its own chunk a place reads what it looked for, of the others what they say as a whole. One chunk
is full attention. Scores are n c + (n / c)^2, least where c grows as the cube root of n. Within a
text it reads both ways: the mean query of a chunk knows its last place. Means are over places that
count; a chunk of padding is read by none but itself, and so is a place of padding. Chunks are
counted from the first place: padding behind a text changes nothing, padding in front moves their
borders, and with them what is read.

Shapes: B batch, H heads, T positions, K features of a head, c places of a chunk, N = ceil(T / c)
chunks.
Source: Yang et al., "Hierarchical Attention Networks for Document Classification" (2016), for words
within sentences and sentences within a text.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.fused_attention import fused_attention
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.self_attention import SelfAttention, counted_keys

BOTH_WAYS = "hierarchical attention reads both ways: it cannot be causal, nor say what comes next"


def hierarchical_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    chunk: int,
    *,
    scale: float | None = None,
    counted: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        chunk: c, places of a chunk; the last may have fewer.
        scale: of the scores; 1 / sqrt(K) where None.
        counted: the places that may be read (B, T); all where None.
        dropout: share of the weights dropped, within chunks and among them.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    _check_chunk(chunk)
    length = queries.shape[2]
    masked_heads = 1 if counted is None else queries.shape[1]  # one mask is for all without padding
    counts = _in_chunks(_counted(counted, queries)[:, None, :, None], chunk)  # (B or 1, 1, N, c, 1)
    asked, near, told = (_in_chunks(part, chunk) for part in (queries, keys, values))
    itself = torch.eye(chunk, dtype=torch.bool, device=queries.device)
    local = fused_attention(
        asked.flatten(0, 1),
        near.flatten(0, 1),
        told.flatten(0, 1),
        attn_mask=(counts.mT | itself).expand(-1, masked_heads, -1, -1, -1).flatten(0, 1),
        dropout_p=dropout,
        scale=scale,
    ).view(told.shape)  # (B, H, N, c, K)
    weights = _chunk_weights(
        _mean(asked, counts), _mean(near, counts), counts.any(dim=3)[..., 0], scale
    )  # (B, H, N, N)
    weights = functional.dropout(weights, dropout)
    summaries = _mean(local, counts)
    own = weights.diagonal(dim1=2, dim2=3)[..., None]  # (B, H, N, 1)
    others = weights @ summaries - own * summaries
    read = own[..., None] * local + others[:, :, :, None]
    return read.flatten(2, 3)[:, :, :length]


def hierarchical_weights(
    queries: Tensor,
    keys: Tensor,
    chunk: int,
    *,
    scale: float | None = None,
    counted: Tensor | None = None,
) -> Tensor:
    """The weights (B, H, T, T) by the plain formula, to be looked at."""
    _check_chunk(chunk)
    length = queries.shape[2]
    counted = _counted(counted, queries)
    scale = queries.shape[3] ** -0.5 if scale is None else scale
    chunks = torch.arange(length, device=queries.device) // chunk
    same, itself = chunks[:, None] == chunks, torch.eye(length, device=queries.device).bool()
    allowed = same & (counted[:, None, None] | itself)  # (B or 1, 1, T, T)
    local = masked_softmax(scale * queries @ keys.mT, allowed)
    members = functional.one_hot(chunks).T * counted[:, None]  # (B or 1, N, T)
    means = (members.to(queries) / members.sum(dim=2, keepdim=True).clamp_min(1))[:, None]
    has_any = members.any(dim=2)[:, None]
    weights = _chunk_weights(means @ queries, means @ keys, has_any, scale)[:, :, chunks]
    summaries = (means @ local)[:, :, chunks]  # of the chunk of each place, (B, H, T, T)
    # A key is read by its own chunk only: of others, as their summary reads it.
    by_summary = summaries.diagonal(dim1=2, dim2=3)[:, :, None]
    return weights[..., chunks] * torch.where(same, local, by_summary)


class HierarchicalAttention(SelfAttention[None]):
    """Each position reads its own chunk, and the others as a whole; masks are (B, 1, T).

    Args:
        width: D.
        heads: H; divides D.
        chunk: c, places of a chunk.
        settings: those of every `SelfAttention`; it cannot be causal.
    """

    def __init__(self, width: int, heads: int, *, chunk: int, **settings: Any) -> None:
        super().__init__(width, heads, **settings)
        _check_chunk(chunk)
        if self.causal:
            raise ConfigError(BOTH_WAYS)
        self.chunk = chunk

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        _refuse_bias(score_bias)
        queries, keys, values = self._split(zero_unread(x, mask))
        heads = hierarchical_attention(
            queries,
            self._for_all_heads(keys),
            self._for_all_heads(values),
            self.chunk,
            scale=self.scale,
            counted=counted_keys(mask),
            dropout=self.dropout if self.training else 0.0,
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
        _refuse_bias(score_bias)
        queries, keys, _ = self._split(zero_unread(x, mask))
        return hierarchical_weights(
            queries,
            self._for_all_heads(keys),
            self.chunk,
            scale=self.scale,
            counted=counted_keys(mask),
        )


def hierarchical_pairs(length: int, chunk: int) -> int:
    """Scores that are computed: n c + (n / c)^2, for whole chunks."""
    return length * chunk + (length // chunk) ** 2


def _chunk_weights(asked: Tensor, told: Tensor, counts: Tensor, scale: float | None) -> Tensor:
    """How chunks read each other by their mean queries and keys, (B, H, N, N).

    Args:
        asked: mean queries (B, H, N, K).
        told: mean keys (B, H, N, K).
        counts: chunks with a place that counts (B or 1, 1, N); others are read by themselves alone.
        scale: of the scores.
    """
    scale = asked.shape[3] ** -0.5 if scale is None else scale
    itself = torch.eye(counts.shape[2], dtype=torch.bool, device=counts.device)
    return masked_softmax(scale * asked @ told.mT, counts[:, :, None] | itself)


def _counted(counted: Tensor | None, queries: Tensor) -> Tensor:
    """The places that may be read (B, T); where all may, (1, T)."""
    return queries.new_ones(1, queries.shape[2], dtype=torch.bool) if counted is None else counted


def _in_chunks(x: Tensor, chunk: int) -> Tensor:
    """(B, H, T, K) -> (B, H, N, c, K), filled up with zeros."""
    filled = functional.pad(x, (0, 0, 0, -x.shape[2] % chunk))
    return filled.view(*x.shape[:2], filled.shape[2] // chunk, chunk, x.shape[3])


def _mean(x: Tensor, counts: Tensor) -> Tensor:
    """Over the places of each chunk that count, (B, H, N, c, K) -> (B, H, N, K); else 0."""
    return (x * counts).sum(dim=3) / counts.sum(dim=3).clamp_min(1)


def _check_chunk(chunk: int) -> None:
    if chunk < 1:
        raise ConfigError(f"chunk must be at least 1, got {chunk}")


def _refuse_bias(score_bias: Tensor | None) -> None:
    if score_bias is not None:
        raise ConfigError("hierarchical attention takes no bias of its scores")
