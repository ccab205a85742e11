r"""Sliding-window attention with global tokens: work grows with the length, not with its square.

    query t reads key s   where |t - s| <= w,   or s is global,   or t is global

The first G places are global: they read all and are read by all; where it is causal, nothing later
is read by them either. Queries are taken in blocks of w, which need only the keys of three blocks
(two where it is causal) and the global ones: no mask is larger than (T, G + 3 w).
`window_mask` is the same rule as one (T, T) mask, for the plain formula. Keys of padding are read
by none but their own query, so that no softmax is empty.

Shapes: B batch, H heads, T positions, K features of a head, N blocks of w queries, G global tokens,
S = G + 3 w keys of a block, or G + 2 w.
Source: Beltagy, Peters and Cohan, "Longformer: The Long-Document Transformer" (2020), section 3.1.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores
from netwright.layers.attention.fused_attention import fused_attention
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.multihead_attention import biased
from netwright.layers.attention.self_attention import SelfAttention, counted_keys


def window_mask(
    length: int,
    window: int,
    global_tokens: int = 0,
    *,
    is_causal: bool = False,
    device: torch.device | None = None,
) -> Tensor:
    """(T, T): True where a query may read a key."""
    places = torch.arange(length, device=device)
    return _allowed(places[:, None], places, window, global_tokens, is_causal=is_causal)


def window_pairs(length: int, window: int, global_tokens: int = 0) -> int:
    """How many pairs of query and key there are: T (2 w + 1) - w (w + 1), and the global ones."""
    near = min(window, length - 1)
    pairs = length * (2 * near + 1) - near * (near + 1)
    for place in range(min(global_tokens, length)):
        # Places beyond the window, there and back, but those of global tokens counted before.
        beyond = [other for other in range(place + 1, length) if other - place > window]
        pairs += 2 * len(beyond)
    return pairs


def window_attention(  # noqa: PLR0913 - one formula, with a name for each of its parts
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    window: int,
    *,
    global_tokens: int = 0,
    is_causal: bool = False,
    scale: float | None = None,
    counted: Tensor | None = None,
    score_bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        window: w, how far a query sees to either side.
        global_tokens: G, how many of the first places read all and are read by all.
        is_causal: nothing is read from later places, also not by or from global tokens.
        scale: of the scores; 1 / sqrt(K) where None.
        counted: True where a key is no padding (B, T); padding is read by its own query only.
        score_bias: added to the scores, by the distance of key minus query from 1 - T on,
            (H, 2 T - 1).
        dropout: share of the weights that is dropped.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    check_window(window, global_tokens)
    length, device = queries.shape[2], queries.device
    window, count = min(window, length), min(global_tokens, length)
    near_blocks = 2 if is_causal else 3
    blocks = -(-length // window)
    filled = functional.pad(queries, (0, 0, 0, -length % window))
    asked = filled.view(*queries.shape[:2], blocks, window, -1)
    begins = window * torch.arange(blocks, device=device)[:, None, None]  # (N, 1, 1)
    near = begins - window + torch.arange(near_blocks * window, device=device)
    far = torch.arange(count, device=device).expand(blocks, 1, -1)
    # A global key counts as such, not as a near one: each once.
    near_is_place = (near >= count) & (near < length)
    is_place = torch.cat((torch.ones_like(far, dtype=torch.bool), near_is_place), dim=2)
    places = torch.cat((far, near), dim=2)  # (N, 1, S)
    asking = begins + torch.arange(window, device=device)[:, None]  # (N, w, 1)
    rule = _allowed(asking, places, window, count, is_causal=is_causal) & is_place
    # What fills up the last block reads itself: the softmax of nothing would be NaN.
    rule |= (asking == places) & (asking >= length)
    # One batch of rows and heads, blocks as its heads: fused kernels take four dimensions.
    read = fused_attention(
        asked.flatten(0, 1),
        _around(keys, window, count, near_blocks).flatten(0, 1),
        _around(values, window, count, near_blocks).flatten(0, 1),
        attn_mask=_scores_added(rule, asking, places, counted, score_bias, queries.shape[:2]),
        dropout_p=dropout,
        scale=scale,
    )
    local = read.reshape(*filled.shape)[:, :, :length]
    if not count:
        return local
    asking, places = far[:1].mT, torch.arange(length, device=device)[None, None]
    rule = (places <= asking) if is_causal else (asking >= 0).expand(-1, -1, length)
    first = fused_attention(
        queries[:, :, :count].flatten(0, 1)[:, None],
        keys.flatten(0, 1)[:, None],
        values.flatten(0, 1)[:, None],
        attn_mask=_scores_added(rule, asking, places, counted, score_bias, queries.shape[:2]),
        dropout_p=dropout,
        scale=scale,
    )
    first = first.reshape(*queries.shape[:2], count, -1)
    return torch.cat((first, local[:, :, count:]), dim=2)


class WindowAttention(SelfAttention[KeyValueCache]):
    """Each position reads those within a window, and the first ones, which read all.

    Padding may be in front of a text, if it is causal: its first places are then those of its first
    tokens. Masks are (B, 1, T); `score_bias` is by distance, (H, 2 T - 1).

    Args:
        width: D.
        heads: H; divides D.
        window: w, how far a query sees to either side.
        global_tokens: G, how many of the first places read all and are read by all.
        settings: those of every `SelfAttention`.
    """

    bias_by_distance: ClassVar[bool] = True

    def __init__(
        self, width: int, heads: int, *, window: int, global_tokens: int = 0, **settings: Any
    ) -> None:
        super().__init__(width, heads, **settings)
        check_window(window, global_tokens)
        self.window, self.global_tokens = window, global_tokens

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        parts = self._split(zero_unread(x, mask))
        return self._read(*parts, counted_keys(mask), score_bias)

    def start(self, batch: int, size: int) -> KeyValueCache:
        """An empty cache for so many rows of at most `size` tokens."""
        shape = (batch, self.kv_heads, size, self.head_size)
        return KeyValueCache.empty(shape, like=self.c_attn.weight)

    def extend(
        self, x: Tensor, cache: KeyValueCache, score_bias: Tensor | None = None
    ) -> tuple[Tensor, KeyValueCache]:
        """The next positions (B, T, D), which read the window and the first of those before."""
        before, first = cache.length, cache.first
        queries, keys, values = self._split(x, start=before)
        cache = cache.append(keys, values)
        seen = torch.arange(cache.length, device=x.device)
        if not before:
            counted = None if first is None else seen >= first[:, None]
            return self._read(queries, keys, values, counted, score_bias), cache
        first = seen.new_zeros(1) if first is None else first
        begin = max(0, before - self.window)
        far = first[:, None] + torch.arange(self.global_tokens, device=x.device)  # (B, G)
        near = seen[begin:].expand(len(far), -1)
        # Places count from the first token of each row; a near key is none of the global ones.
        places = (torch.cat((far, near), dim=1) - first[:, None])[:, None]  # (B, 1, S)
        asking = (seen[before:] - first[:, None])[:, :, None]
        rule = _allowed(asking, places, self.window, self.global_tokens, is_causal=True)
        rule[:, :, self.global_tokens :] &= places[:, :, self.global_tokens :] >= self.global_tokens
        keys, values = (
            torch.cat((_picked(part, far.clamp_max(cache.length - 1)), part[:, :, begin:]), dim=2)
            for part in map(self._for_all_heads, cache.filled())
        )
        added = None if score_bias is None else _by_distance(score_bias, places - asking)
        allowed = biased(rule[:, None], None if added is None else added.transpose(0, 1))
        heads = fused_attention(queries, keys, values, attn_mask=allowed, scale=self.scale)
        return self._joined(heads), cache

    def attention_weights(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, T)."""
        queries, keys, _ = self._split(zero_unread(x, mask))
        scores = self.scale * dot_scores(queries, self._for_all_heads(keys))
        counted = counted_keys(mask)
        places = torch.arange(x.shape[1], device=x.device).expand(len(x), -1)
        if counted is not None and self.causal:
            places = places - _first_counted(counted)[:, None]
        asking, asked = places[:, :, None], places[:, None]
        rule = _allowed(asking, asked, self.window, self.global_tokens, is_causal=self.causal)
        if counted is not None:
            rule = rule & (counted[:, None] | (asking == asked))
        if score_bias is not None:
            scores = scores + _by_distance(score_bias, (asked - asking)[0])
        return masked_softmax(scores, rule[:, None])

    def _read(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        counted: Tensor | None,
        score_bias: Tensor | None,
    ) -> Tensor:
        """What the heads read of a whole text, joined and mixed, (B, T, D)."""
        keys, values, turn = self._for_all_heads(keys), self._for_all_heads(values), None
        if counted is not None and self.causal:
            # Each row from its first token on, the padding behind it.
            places = torch.arange(counted.shape[1], device=counted.device)
            turn = (places + _first_counted(counted)[:, None]) % len(places)  # (B, T)
            counted = counted.gather(1, turn)
            queries, keys, values = (_picked(part, turn) for part in (queries, keys, values))
        heads = window_attention(
            queries,
            keys,
            values,
            self.window,
            global_tokens=self.global_tokens,
            is_causal=self.causal,
            scale=self.scale,
            counted=counted,
            score_bias=score_bias,
            dropout=self.dropout if self.training else 0.0,
        )
        return self._joined(heads if turn is None else _picked(heads, turn.argsort(dim=1)))


def check_window(window: int, global_tokens: int) -> None:
    """Refuse a window of nothing, and less than no global tokens."""
    for name, value, least in (("window", window, 1), ("global_tokens", global_tokens, 0)):
        if value < least:
            raise ConfigError(f"{name} must be at least {least}, got {value}")


def _allowed(
    queries: Tensor, keys: Tensor, window: int, global_tokens: int, *, is_causal: bool
) -> Tensor:
    """The rule for places of queries and keys, of shapes that expand to each other."""
    near = (queries - keys).abs() <= window
    either = near | (queries < global_tokens) | (keys < global_tokens)
    return either & (keys <= queries) if is_causal else either


def _around(x: Tensor, window: int, count: int, near_blocks: int) -> Tensor:
    """Of each block of w places the global ones, the block before, itself, and maybe that behind.

    (B, H, T, K) -> (B, H, N, S, K).
    """
    after = (near_blocks - 2) * window + -x.shape[2] % window
    padded = functional.pad(x, (0, 0, window, after))
    near = padded.unfold(2, near_blocks * window, window).mT  # (B, H, N, 2 w or 3 w, K)
    far = x[:, :, :count].unsqueeze(2).expand(-1, -1, near.shape[2], -1, -1)
    return torch.cat((far, near), dim=3)


def _scores_added(
    rule: Tensor,
    queries: Tensor,
    keys: Tensor,
    counted: Tensor | None,
    score_bias: Tensor | None,
    rows: Sequence[int],
) -> Tensor | None:
    """The rule, padding and bias in one, (1, N, w, S) or (B H, N, w, S).

    Args:
        rule: True where a query may read a key (N, w, S).
        queries: the places of the queries (N, w, 1).
        keys: those of the keys (N, 1, S).
        counted: as `window_attention` takes it.
        score_bias: the same.
        rows: B and H.
    """
    if counted is None and score_bias is None:
        return rule[None]
    allowed = rule[None]
    if counted is not None:
        inside = counted[:, keys.clamp(0, counted.shape[1] - 1)]  # (B, N, 1, S)
        allowed = rule & (inside | (queries == keys))
    bias = None if score_bias is None else _by_distance(score_bias, keys - queries)
    added = biased(allowed[:, None], bias)  # (B or 1, H or 1, N, w, S)
    if added is None:
        return None
    return added.expand(*rows, -1, -1, -1).flatten(0, 1)


def _by_distance(score_bias: Tensor, distances: Tensor) -> Tensor:
    """The bias (H, 2 T - 1) at distances of any shape, (H, ...); those that cannot be are cut."""
    farthest = score_bias.shape[1] // 2
    return score_bias[:, distances.clamp(-farthest, farthest) + farthest]


def _picked(x: Tensor, places: Tensor) -> Tensor:
    """The places (B or 1, P) of each row, (B, H, T, K) -> (B, H, P, K)."""
    rows = places.expand(len(x), -1)[:, None, :, None]
    return x.gather(2, rows.expand(-1, x.shape[1], -1, x.shape[3]))


def _first_counted(counted: Tensor) -> Tensor:
    """The place of each row's first token (B,)."""
    return counted.int().argmax(dim=1)
