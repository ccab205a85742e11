r"""Hierarchical attention: places read within their chunk, chunks read each other's summaries.

    local_t = attention of q_t over the keys of its own chunk
    m_j     = mean of local_t over chunk j,    a = softmax of the scores of mean queries and keys
    read_t  = a_{ii} local_t + sum_{j != i} a_{ij} m_j,    t in chunk i

Of its own chunk a place reads what it looked for, of the others what they say as a whole. One chunk
is full attention. Scores are n c + (n / c)^2, least where c grows as the cube root of n. Within a
text it reads both ways: the mean query of a chunk knows its last place.

Shapes: B batch, H heads, T positions, K features of a head, c places of a chunk, N = ceil(T / c)
chunks.
Source: Yang et al., "Hierarchical Attention Networks for Document Classification" (2016), for words
within sentences and sentences within a text.
"""

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError


def hierarchical_attention(
    queries: Tensor, keys: Tensor, values: Tensor, chunk: int, *, scale: float | None = None
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        chunk: c, places of a chunk; the last may have fewer.
        scale: of the scores; 1 / sqrt(K) where None.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    _check_chunk(chunk)
    length = queries.shape[2]
    is_place = _in_chunks(torch.ones(1, 1, length, 1, device=queries.device), chunk).bool()
    asked, near, told = (_in_chunks(part, chunk) for part in (queries, keys, values))
    local = functional.scaled_dot_product_attention(
        asked.flatten(0, 1),
        near.flatten(0, 1),
        told.flatten(0, 1),
        attn_mask=is_place[0].mT,
        scale=scale,
    ).view(told.shape)  # (B, H, N, c, K)
    summaries = _mean(local, is_place)
    weights = _chunk_weights(_mean(asked, is_place), _mean(near, is_place), scale)  # (B, H, N, N)
    own = weights.diagonal(dim1=2, dim2=3)[..., None]  # (B, H, N, 1)
    others = weights @ summaries - own * summaries
    read = own[..., None] * local + others[:, :, :, None]
    return read.flatten(2, 3)[:, :, :length]


def hierarchical_weights(
    queries: Tensor, keys: Tensor, chunk: int, *, scale: float | None = None
) -> Tensor:
    """The weights (B, H, T, T) by the plain formula, to be looked at."""
    _check_chunk(chunk)
    length = queries.shape[2]
    scale = queries.shape[3] ** -0.5 if scale is None else scale
    chunks = torch.arange(length, device=queries.device) // chunk
    same = chunks[:, None] == chunks
    scores = (scale * queries @ keys.mT).masked_fill(~same, -torch.inf)
    local = scores.softmax(dim=-1)
    means = functional.one_hot(chunks).to(queries).T  # (N, T)
    means = means / means.sum(dim=1, keepdim=True)
    weights = _chunk_weights(means @ queries, means @ keys, scale)[:, :, chunks][..., chunks]
    summaries = (means @ local)[:, :, chunks]  # of the chunk of each place, (B, H, T, T)
    # A key is read by its own chunk only: of others, as their summary reads it.
    by_summary = summaries.diagonal(dim1=2, dim2=3)[:, :, None]
    return weights * torch.where(same, local, by_summary)


def hierarchical_pairs(length: int, chunk: int) -> int:
    """Scores that are computed: n c + (n / c)^2, for whole chunks."""
    return length * chunk + (length // chunk) ** 2


def _chunk_weights(asked: Tensor, told: Tensor, scale: float | None) -> Tensor:
    """How chunks read each other by their mean queries and keys, (B, H, N, N)."""
    scale = asked.shape[3] ** -0.5 if scale is None else scale
    return (scale * asked @ told.mT).softmax(dim=-1)


def _in_chunks(x: Tensor, chunk: int) -> Tensor:
    """(B, H, T, K) -> (B, H, N, c, K), filled up with zeros."""
    filled = functional.pad(x, (0, 0, 0, -x.shape[2] % chunk))
    return filled.view(*x.shape[:2], -1, chunk, x.shape[3])


def _mean(x: Tensor, is_place: Tensor) -> Tensor:
    """Over the places of each chunk, (B, H, N, c, K) -> (B, H, N, K)."""
    return (x * is_place).sum(dim=3) / is_place.sum(dim=3)


def _check_chunk(chunk: int) -> None:
    if chunk < 1:
        raise ConfigError(f"chunk must be at least 1, got {chunk}")
