r"""An embedding worked by hand: a row of a table for each token, and the gradient of the table.

    forward:   e_i = E[t_i]
    backward:  dR/dE[v] = sum of delta_i over the places i with t_i = v

The rows of tokens that were used twice add up; rows of tokens that were not used are zero. It is
the dense layer of one-hot inputs, whose zeros nobody multiplies.

Shapes: V vocabulary, D features; tokens have any shape.
Source: Bengio et al., "A Neural Probabilistic Language Model" (2003).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError


class EmbeddingKept(NamedTuple):
    """What the backward pass needs: the tokens and the size V of the table."""

    tokens: Tensor
    vocab_size: int


def embedding_forward(tokens: Tensor, weight: Tensor) -> tuple[Tensor, EmbeddingKept]:
    """The row of each token.

    Args:
        tokens: whole numbers below V, of any shape (...).
        weight: the table E, (V, D).
    """
    check_shape("weight", weight, "V", "D")
    if tokens.dtype not in (torch.int32, torch.int64):  # bytes and truth values would be a mask
        raise DataError(f"tokens must be int32 or int64, got {tokens.dtype}")
    outside = tokens[(tokens < 0) | (tokens >= len(weight))]
    if len(outside):
        raise DataError(f"tokens must lie in [0, {len(weight)}), got {int(outside[0])}")
    return weight[tokens], EmbeddingKept(tokens, len(weight))


def embedding_backward(kept: EmbeddingKept, delta: Tensor) -> Tensor:
    """dR/dE (V, D) from delta = dR/de, (..., D)."""
    check_shape("delta", delta, *kept.tokens.shape, "D")
    table = delta.new_zeros(kept.vocab_size, delta.shape[-1])
    return table.index_add(0, kept.tokens.flatten(), delta.reshape(-1, delta.shape[-1]))
