r"""A dense layer worked by hand: z = W x + b, and its gradients from delta = dR/dz.

    dR/dW = sum_i delta_i x_i^T,    dR/db = sum_i delta_i,    dR/dx_i = W^T delta_i

The sums run over the examples of the batch, which all use the same weights. With a row an example,
z = x W^T + b, dR/dW = delta^T x and dR/dx = delta W.

Shapes: B batch, D inputs, K outputs.
Source: Rumelhart, Hinton and Williams, "Learning Representations by Back-propagating Errors"
(1986).
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from netwright.core.checks import check_shape


class DenseKept(NamedTuple):
    """What the backward pass needs: the input (B, D) and the weights (K, D)."""

    x: Tensor
    weight: Tensor


@dataclass(frozen=True, kw_only=True)
class DenseGradients:
    """The gradients by what went into the layer, each of the shape of its tensor."""

    x: Tensor
    weight: Tensor
    bias: Tensor


def dense_forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, DenseKept]:
    """The pre-activation z = x W^T + b.

    Args:
        x: (B, D).
        weight: W, (K, D).
        bias: b, (K,).
    """
    check_shape("weight", weight, "K", "D")
    check_shape("x", x, "B", weight.shape[1])
    check_shape("bias", bias, len(weight))
    return x @ weight.T + bias, DenseKept(x, weight)


def dense_backward(kept: DenseKept, delta: Tensor) -> DenseGradients:
    """The gradients from delta = dR/dz, (B, K)."""
    check_shape("delta", delta, len(kept.x), len(kept.weight))
    return DenseGradients(x=delta @ kept.weight, weight=delta.T @ kept.x, bias=delta.sum(dim=0))
