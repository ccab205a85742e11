r"""Where the backward pass begins: delta = dR/do of an output unit f = g(o) and its loss R(f, y).

    squared error                 R = 1/2 sum_k (f_k - y_k)^2
    cross-entropy of a sigmoid    R = -sum_k [y_k log f_k + (1 - y_k) log(1 - f_k)]
    cross-entropy of a softmax    R = -sum_k y_k log f_k,   where sum_k y_k = 1

    identity and squared error    delta = f - y
    sigmoid  and squared error    delta = (f - y) f (1 - f)
    sigmoid  and cross-entropy    delta = f - y
    softmax  and cross-entropy    delta = f - y

A sigmoid that is wrong and sure (f near 0 or 1) has f (1 - f) near 0: with squared error it learns
nothing, with cross-entropy the factor cancels.

All R are of one example, and gradients add over the batch. Two factors are often left unsaid:
without the 1/2 a squared error has delta = 2 (f - y), and where R is the mean of the batch, delta
is divided by B. All that follows is linear in delta.

Shapes: B batch, K outputs; o, f, y and delta are (B, K), a loss is (B,).
Source: Bishop, "Pattern Recognition and Machine Learning" (2006), section 5.2.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.layers.softmax import log_sum_exp, softmax


@dataclass(frozen=True, kw_only=True)
class OutputUnit:
    """An output unit with its loss, and where their backward pass begins.

    Args:
        output: f = g(o).
        loss: R of each example, from o and y. Cross-entropies take the logarithm of no f, so
            that one that is rounded to 0 does not make them infinite.
        delta: dR/do, from f and y.
    """

    output: Callable[[Tensor], Tensor]
    loss: Callable[[Tensor, Tensor], Tensor]
    delta: Callable[[Tensor, Tensor], Tensor]


def error(f: Tensor, y: Tensor) -> Tensor:
    """The difference f - y; a target (B,) against outputs (B, 1) would quietly make it (B, B)."""
    check_shape("y", y, *f.shape)
    return f - y


def half_squared_error(f: Tensor, y: Tensor) -> Tensor:
    """1/2 sum_k (f_k - y_k)^2, (B, K) -> (B,)."""
    return error(f, y).square().sum(dim=1) / 2


def sigmoid_cross_entropy(o: Tensor, y: Tensor) -> Tensor:
    """sum_k [log(1 + e^{o_k}) - y_k o_k]: the cross-entropy of f = sigma(o)."""
    check_shape("y", y, *o.shape)
    return (torch.logaddexp(o, torch.zeros_like(o)) - y * o).sum(dim=1)


def softmax_cross_entropy(o: Tensor, y: Tensor) -> Tensor:
    """The log of sum_k e^{o_k}, less sum_k y_k o_k: the cross-entropy of f = softmax(o)."""
    check_shape("y", y, *o.shape)
    return log_sum_exp(o) - (y * o).sum(dim=1)


IDENTITY_SQUARED_ERROR = OutputUnit(
    output=lambda o: o,
    loss=half_squared_error,
    delta=error,
)
SIGMOID_SQUARED_ERROR = OutputUnit(
    output=torch.sigmoid,
    loss=lambda o, y: half_squared_error(torch.sigmoid(o), y),
    delta=lambda f, y: error(f, y) * f * (1 - f),
)
SIGMOID_CROSS_ENTROPY = OutputUnit(
    output=torch.sigmoid,
    loss=sigmoid_cross_entropy,
    delta=error,
)
SOFTMAX_CROSS_ENTROPY = OutputUnit(
    output=softmax,
    loss=softmax_cross_entropy,
    delta=error,
)
