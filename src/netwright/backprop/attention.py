r"""Scaled dot-product attention, differentiated by hand.

    Z = Q K^T / sqrt(D),    A = softmax of each row of Z,    Y = A V

    dV = A^T dY             dZ = A (dA - sum of each row of A dA),  dA = dY V^T
    dQ = dZ K / sqrt(D)     dK = dZ^T Q / sqrt(D)

The softmax's Jacobian diag(a) - a a^T is never built: its product with a vector takes one sum. A
score that is masked has the weight 0, and so its error is 0 by itself. The gradient of what a batch
shares is summed over it.

Shapes: T queries, S keys and values, D features of queries and keys, E of values; any batch before
them.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import scaled_dot_scores


class AttentionKept(NamedTuple):
    """What the way back needs: Q (..., T, D), K (..., S, D), V (..., S, E) and A (..., T, S)."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    weights: Tensor


@dataclass(frozen=True, kw_only=True)
class AttentionGradients:
    """The gradients of Q, K and V, each of the shape of its tensor."""

    queries: Tensor
    keys: Tensor
    values: Tensor


def attention_forward(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, AttentionKept]:
    """What the queries read, (..., T, E); `mask` is True where a query may attend."""
    weights = masked_softmax(scaled_dot_scores(queries, keys), mask)
    return weights @ values, AttentionKept(queries, keys, values, weights)


def attention_backward(kept: AttentionKept, delta: Tensor) -> AttentionGradients:
    """The gradients from that of what was read, (..., T, E)."""
    rows, features = kept.weights.shape[-2], kept.values.shape[-1]
    batches = kept.weights.shape[:-2], kept.values.shape[:-2]
    batch = torch.broadcast_shapes(*batches)  # type: ignore[no-untyped-call]
    check_shape("delta", delta, *batch, rows, features)
    of_scores = softmax_backward(kept.weights, delta @ kept.values.mT)
    of_products = of_scores / math.sqrt(kept.queries.shape[-1])
    return AttentionGradients(
        queries=(of_products @ kept.keys).sum_to_size(kept.queries.shape),
        keys=(of_products.mT @ kept.queries).sum_to_size(kept.keys.shape),
        values=(kept.weights.mT @ delta).sum_to_size(kept.values.shape),
    )


def softmax_backward(chances: Tensor, delta: Tensor) -> Tensor:
    """(diag(a) - a a^T) delta, for each row a (..., S) of chances."""
    return chances * (delta - (delta * chances).sum(dim=-1, keepdim=True))
