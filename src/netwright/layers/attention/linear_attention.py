r"""Linear attention: the softmax becomes a product of features, and the sums are taken once.

    read_t = phi(q_t)^T S / phi(q_t)^T z,    S = sum_s phi(k_s) v_s^T,    z = sum_s phi(k_s)
    phi(x) = elu(x) + 1

Causal sums go up to s = t: then S and z are the state of a recurrence, and a new token costs the
same however many came before. Training takes blocks: within one by a small mask, before it by the
state. Sums are kept in float32 at least, for those of half precision overflow.

Shapes: B batch, H heads, T positions, K features of queries and keys, E of values, C of a block.
Source: Katharopoulos et al., "Transformers are RNNs" (2020), sections 3.2 to 3.4.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape

BLOCK = 64  # C


class LinearState(NamedTuple):
    """All that is kept of the tokens so far.

    Args:
        sums: S, (B, H, K, E).
        total: z, (B, H, K).
    """

    sums: Tensor
    total: Tensor


def feature_map(x: Tensor) -> Tensor:
    """phi: elu + 1, positive everywhere; at least in float32."""
    exact = x if x.dtype == torch.float64 else x.float()
    return functional.elu(exact) + 1


def linear_attention(
    queries: Tensor, keys: Tensor, values: Tensor, *, is_causal: bool = False
) -> Tensor:
    """What every query reads, (B, H, T, K), (B, H, S, K), (B, H, S, E) -> (B, H, T, E)."""
    check_shape("queries", queries, "B", "H", "T", "K")
    if not is_causal:
        state = extend_state(empty_state(keys, values), keys, values)
        return _read(feature_map(queries), state).to(values.dtype)
    state, read = empty_state(keys, values), []
    parts = (torch.split(part, BLOCK, dim=2) for part in (queries, keys, values))
    for asked, near, told in zip(*parts, strict=True):
        read.append(_read_block(asked, near, told, state))
        state = extend_state(state, near, told)
    return torch.cat(read, dim=2).to(values.dtype)


def linear_weights(queries: Tensor, keys: Tensor, *, is_causal: bool = False) -> Tensor:
    """The weights (B, H, T, S) by the plain formula, to be looked at."""
    scores = feature_map(queries) @ feature_map(keys).mT
    scores = scores.tril(keys.shape[2] - queries.shape[2]) if is_causal else scores
    return scores / scores.sum(dim=-1, keepdim=True)


def empty_state(keys: Tensor, values: Tensor) -> LinearState:
    """The state before the first token."""
    kind = feature_map(keys[:, :, :0]).dtype
    batch, heads, _, size = keys.shape
    sums = keys.new_zeros(batch, heads, size, values.shape[3], dtype=kind)
    return LinearState(sums, keys.new_zeros(batch, heads, size, dtype=kind))


def extend_state(state: LinearState, keys: Tensor, values: Tensor) -> LinearState:
    """The state after more keys and values."""
    features = feature_map(keys)
    sums = state.sums + features.mT @ values.to(features.dtype)
    return LinearState(sums, state.total + features.sum(dim=2))


def linear_step(
    query: Tensor, key: Tensor, value: Tensor, state: LinearState
) -> tuple[Tensor, LinearState]:
    """One token more: what it reads (B, H, 1, E), and the state in place of the old."""
    state = extend_state(state, key, value)
    return _read(feature_map(query), state).to(value.dtype), state


def _read(features: Tensor, state: LinearState) -> Tensor:
    return (features @ state.sums) / (features @ state.total.unsqueeze(-1))


def _read_block(queries: Tensor, keys: Tensor, values: Tensor, state: LinearState) -> Tensor:
    """What a block reads: of its own keys those up to each query, and all before."""
    features = feature_map(queries)
    near = (features @ feature_map(keys).mT).tril()  # (B, H, C, C)
    read = near @ values.to(near.dtype) + features @ state.sums
    total = near.sum(dim=-1, keepdim=True) + features @ state.total.unsqueeze(-1)
    return read / total
