r"""Linear attention: the softmax becomes a product of features, and the sums are taken once.

    read_t = phi(q_t)^T S / phi(q_t)^T z,    S = sum_s phi(k_s) v_s^T,    z = sum_s phi(k_s)
    phi(x) = elu(x) + 1

Causal sums go up to s = t: then S and z are the state of a recurrence, and a new token costs the
same however many came before. Training takes blocks: within one by a small mask, before it by the
state. Sums are kept in float32 at least, for those of half precision overflow. Keys of padding have
features 0; a query that reads nothing else reads 0.

Shapes: B batch, H heads, T positions, K features of queries and keys, E of values, N blocks of C.
Source: Katharopoulos et al., "Transformers are RNNs" (2020), sections 3.2 to 3.4.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.self_attention import SelfAttention, counted_keys

BLOCK = 64  # C


class LinearState(NamedTuple):
    """All that is kept of the tokens so far.

    Args:
        sums: S, (B, H, K, E).
        total: z, (B, H, K).
    """

    sums: Tensor
    total: Tensor


class LinearCache(NamedTuple):
    """What one layer keeps.

    Args:
        state: the sums over the tokens so far.
        length: how many these are, the same for all rows.
        first: the place of each row's first token, behind its padding (B,); None: there is none.
    """

    state: LinearState
    length: int
    first: Tensor | None = None


def feature_map(x: Tensor, counted: Tensor | None = None) -> Tensor:
    """phi: elu + 1, positive everywhere, and 0 at padding (B, T); at least in float32."""
    exact = x if x.dtype == torch.float64 else x.float()
    features = functional.elu(exact) + 1
    return features if counted is None else features * counted[:, None, :, None]


def linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    is_causal: bool = False,
    counted: Tensor | None = None,
) -> Tensor:
    """What every query reads, (B, H, T, K), (B, H, S, K), (B, H, S, E) -> (B, H, T, E).

    Args:
        queries: (B, H, T, K).
        keys: (B, H, S, K).
        values: (B, H, S, E).
        is_causal: nothing is read from later places; T = S.
        counted: True where a key is no padding (B, S).
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    state = empty_state(keys, values)
    if is_causal:
        return read_causally(queries, keys, values, state, counted)[0]
    state = extend_state(state, keys, values, counted)
    return _read(feature_map(queries), state).to(values.dtype)


def read_causally(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    state: LinearState,
    counted: Tensor | None = None,
) -> tuple[Tensor, LinearState]:
    """What each of T new places reads up to itself (B, H, T, E), and the state behind the last.

    All blocks are worked on at once: the state before each is a running sum over those before.
    """
    length = queries.shape[2]
    asked, near = feature_map(queries), feature_map(keys, counted)
    asked, near, told = map(_in_blocks, (asked, near, values.to(near.dtype)))
    sums = torch.cat((state.sums[:, :, None], near.mT @ told), dim=2).cumsum(dim=2)
    totals = torch.cat((state.total[:, :, None], near.sum(dim=3)), dim=2).cumsum(dim=2)
    within = (asked @ near.mT).tril()  # (B, H, N, C, C)
    read = within @ told + asked @ sums[:, :, :-1]
    total = within.sum(dim=-1, keepdim=True) + asked @ totals[:, :, :-1, :, None]
    heads = _divided(read, total).flatten(2, 3)[:, :, :length].to(values.dtype)
    return heads, LinearState(sums[:, :, -1], totals[:, :, -1])


def linear_weights(
    queries: Tensor, keys: Tensor, *, is_causal: bool = False, counted: Tensor | None = None
) -> Tensor:
    """The weights (B, H, T, S) by the plain formula, to be looked at."""
    scores = feature_map(queries) @ feature_map(keys, counted).mT
    scores = scores.tril(keys.shape[2] - queries.shape[2]) if is_causal else scores
    return _divided(scores, scores.sum(dim=-1, keepdim=True))


def empty_state(keys: Tensor, values: Tensor) -> LinearState:
    """The state before the first token."""
    kind = feature_map(keys[:, :, :0]).dtype
    batch, heads, _, size = keys.shape
    sums = keys.new_zeros(batch, heads, size, values.shape[3], dtype=kind)
    return LinearState(sums, keys.new_zeros(batch, heads, size, dtype=kind))


def extend_state(
    state: LinearState, keys: Tensor, values: Tensor, counted: Tensor | None = None
) -> LinearState:
    """The state after more keys and values."""
    features = feature_map(keys, counted)
    sums = state.sums + features.mT @ values.to(features.dtype)
    return LinearState(sums, state.total + features.sum(dim=2))


def linear_step(
    query: Tensor, key: Tensor, value: Tensor, state: LinearState
) -> tuple[Tensor, LinearState]:
    """One token more: what it reads (B, H, 1, E), and the state in place of the old."""
    state = extend_state(state, key, value)
    return _read(feature_map(query), state).to(value.dtype), state


class LinearAttention(SelfAttention[LinearCache]):
    """Each position reads by sums of features; what is kept does not grow with the text.

    There are no scores: nothing can be added to them, and no weights that could be dropped. Masks
    are (B, 1, T).
    """

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        _check_no_bias(score_bias)
        queries, keys, values = self._parts(zero_unread(x, mask))
        heads = linear_attention(
            queries, keys, values, is_causal=self.causal, counted=counted_keys(mask)
        )
        return self._joined(heads)

    def start(self, batch: int, size: int) -> LinearCache:
        """An empty state for so many rows; of any number of tokens it has the same size."""
        like = self.c_attn.weight.new_empty(batch, self.heads, 0, self.head_size)
        return LinearCache(empty_state(like, like), 0)

    def extend(
        self, x: Tensor, cache: LinearCache, score_bias: Tensor | None = None
    ) -> tuple[Tensor, LinearCache]:
        """The next positions (B, T, D), which read from the state of those before."""
        _check_no_bias(score_bias)
        queries, keys, values = self._parts(x, start=cache.length)
        places = torch.arange(cache.length, cache.length + x.shape[1], device=x.device)
        counted = None if cache.first is None else places >= cache.first[:, None]
        heads, state = read_causally(queries, keys, values, cache.state, counted)
        return self._joined(heads), LinearCache(state, cache.length + x.shape[1], cache.first)

    def attention_weights(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, T)."""
        _check_no_bias(score_bias)
        queries, keys, _ = self._parts(zero_unread(x, mask))
        return linear_weights(queries, keys, is_causal=self.causal, counted=counted_keys(mask))

    def _parts(self, x: Tensor, start: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of positions from `start` on, (B, H, T, K) each."""
        queries, keys, values = self._split(x, start)
        return queries, self._for_all_heads(keys), self._for_all_heads(values)


def _check_no_bias(score_bias: Tensor | None) -> None:
    if score_bias is not None:
        raise ConfigError("linear attention has no scores that a bias could be added to")


def _in_blocks(x: Tensor) -> Tensor:
    """(B, H, T, K) -> (B, H, N, C, K), filled up with zeros."""
    filled = functional.pad(x, (0, 0, 0, -x.shape[2] % BLOCK))
    return filled.view(*x.shape[:2], -1, BLOCK, x.shape[3])


def _read(features: Tensor, state: LinearState) -> Tensor:
    return _divided(features @ state.sums, features @ state.total.unsqueeze(-1))


def _divided(read: Tensor, total: Tensor) -> Tensor:
    """The mean; 0 where there is nothing to read."""
    return read / total.clamp_min(torch.finfo(total.dtype).tiny)
