r"""Multi-head self-attention: several attentions on parts of the features, joined and mixed.

    head_i = softmax(Q_i K_i^T / sqrt(K)) V_i,    out = [head_1, ..., head_H] W_O

Queries, keys and values come from one fused projection. With fewer heads of keys and values (G)
than of queries (H), each serves H / G of them. Training uses torch's fused attention, which never
holds the weights; `attention_weights` computes them by the plain formula, to be looked at. The
matrix W_O is often forgotten in print.

A bias of the scores tells positions, too: ALiBi's or T5's is added before the softmax.

Parts have GPT-2's names: c_attn (the fused projection), c_proj (W_O).

Shapes: B batch, T positions, S keys, D width, H heads, G heads of keys and values, K = D / H.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2; Ainslie et al., "GQA"
(2023), for the grouped heads.
"""

import torch
from torch import Tensor

from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores
from netwright.layers.attention.fused_attention import fused_attention
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.masks import causal_mask, padding_mask, zero_unread
from netwright.layers.attention.self_attention import SelfAttention


class MultiHeadAttention(SelfAttention[KeyValueCache]):
    """Every position reads from all others, or from those before it and itself, by a softmax."""

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D).

        Args:
            x: the positions.
            mask: True where one may attend, (B, T, T) or (B, 1, T); causality comes on top of it.
                What is at a position to which none may attend is not read: it may be NaN.
            score_bias: added to the scores of query and key, (H, T, T).
        """
        x = zero_unread(x, mask)
        allowed = None if mask is None and score_bias is None else self._allowed(mask, x)
        is_causal = self.causal and allowed is None
        return self._read(*self._split(x), biased(allowed, score_bias), is_causal=is_causal)

    def extend(
        self, x: Tensor, cache: KeyValueCache, score_bias: Tensor | None = None
    ) -> tuple[Tensor, KeyValueCache]:
        """The next positions (B, T, D), which read from those in the cache too -> (B, T, D).

        Args:
            x: the next positions.
            cache: of those before.
            score_bias: added to the scores of the new queries and of all keys, (H, T, S).
        """
        queries, keys, values = self._split(x, start=cache.length)
        cache = cache.append(keys, values)
        new, seen = x.shape[1], cache.length
        if cache.first is not None:
            counted = torch.arange(seen, device=x.device) >= cache.first[:, None]  # (B, S)
            padded = (padding_mask(counted, new) & causal_mask(new, seen, x.device))[:, None]
            allowed = biased(padded, score_bias)
            return self._read(queries, *cache.filled(), allowed, is_causal=False), cache
        # A single token sees all, a first read is plainly causal: only between is a mask needed.
        is_causal = 1 < new == seen and score_bias is None
        needs_mask = new > 1 and not is_causal
        unpadded = causal_mask(new, seen, x.device) if needs_mask else None
        allowed = biased(unpadded, score_bias)
        return self._read(queries, *cache.filled(), allowed, is_causal=is_causal), cache

    def start(self, batch: int, size: int) -> KeyValueCache:
        """An empty cache for so many rows of at most `size` tokens."""
        shape = (batch, self.kv_heads, size, self.head_size)
        return KeyValueCache.empty(shape, like=self.c_attn.weight)

    def attention_weights(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, T)."""
        queries, keys, _ = self._split(zero_unread(x, mask))
        scores = self.scale * dot_scores(queries, self._for_all_heads(keys))
        scores = scores if score_bias is None else scores + score_bias
        return masked_softmax(scores, self._allowed(mask, x))

    def _allowed(self, mask: Tensor | None, x: Tensor) -> Tensor | None:
        """The mask and causality in one, for all heads: (B, 1, T, T) or (T, T)."""
        causal = causal_mask(x.shape[1], device=x.device) if self.causal else None
        if mask is None:
            return causal
        return mask[:, None] if causal is None else mask[:, None] & causal

    def _read(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        allowed: Tensor | None,
        *,
        is_causal: bool,
    ) -> Tensor:
        """What the heads read, joined and mixed, (B, T, D)."""
        heads = fused_attention(
            queries,
            keys,
            values,
            attn_mask=allowed,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=is_causal,
            scale=self.scale,
            enable_gqa=self.kv_heads < self.heads,
        )
        return self._joined(heads)


def biased(allowed: Tensor | None, score_bias: Tensor | None) -> Tensor | None:
    """What fused attention adds to the scores: the bias, and minus infinity where none may look."""
    if score_bias is None or allowed is None:
        return allowed if score_bias is None else score_bias
    return score_bias.masked_fill(~allowed, -torch.inf)
