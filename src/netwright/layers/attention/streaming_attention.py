r"""Streaming attention: the softmax over all keys, of which only a block is held at a time.

    m' = max(m, max_s a_s),    z' = z e^{m - m'} + sum_s e^{a_s - m'}
    y' = y e^{m - m'} + sum_s e^{a_s - m'} v_s

The running maximum m, sum z and read y are corrected with each block of keys; y / z is exact at the
end. Full attention holds h n^2 scores: 537 MB for 8 heads and 4,096 tokens in float32. This holds
n c of each head, c keys at a time, and torch's fused kernels do the same.

Shapes: B batch, H heads, T queries, S keys, K features of a head, E of values, c keys of a block.
Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Rabe and Staats,
"Self-attention Does Not Need O(n^2) Memory" (2021).
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape

BLOCK = 128  # c


def attention_bytes(length: int, heads: int, bytes_a_number: int = 4) -> int:
    """What the scores of full attention take: h n^2 numbers."""
    return heads * length**2 * bytes_a_number


def streaming_attention(
    queries: Tensor, keys: Tensor, values: Tensor, *, is_causal: bool = False, block: int = BLOCK
) -> Tensor:
    """What every query reads, (B, H, T, K), (B, H, S, K), (B, H, S, E) -> (B, H, T, E).

    Args:
        queries: (B, H, T, K).
        keys: (B, H, S, K).
        values: (B, H, S, E).
        is_causal: nothing is read from later places; T = S.
        block: c, keys that are read at a time.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    batch, heads, length, width = queries.shape
    check_shape("keys", keys, batch, heads, length if is_causal else "S", width)
    check_shape("values", values, batch, heads, keys.shape[2], "E")
    check_positive("block", block)
    asked = queries * queries.shape[3] ** -0.5
    places = torch.arange(queries.shape[2], device=queries.device)[:, None]
    most = queries.new_full((*queries.shape[:3], 1), -torch.inf)
    total = torch.zeros_like(most)
    read = values.new_zeros(*queries.shape[:3], values.shape[3])
    for begin in range(0, keys.shape[2], block):
        near = keys[:, :, begin : begin + block]
        scores = asked @ near.mT  # (B, H, T, c)
        if is_causal:
            behind = places < begin + torch.arange(near.shape[2], device=queries.device)
            scores = scores.masked_fill(behind, -torch.inf)
        higher = torch.maximum(most, scores.amax(dim=-1, keepdim=True))
        shares, kept = (scores - higher).exp(), (most - higher).exp()
        total = total * kept + shares.sum(dim=-1, keepdim=True)
        read = read * kept + shares @ values[:, :, begin : begin + block]
        most = higher
    return read / total
