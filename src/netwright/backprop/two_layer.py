r"""The two-layer network of the textbook exercise, with all its gradients in its own symbols.

    forward:   a_l = w_l0 + w_l^T x,   A_l = sigma(a_l),   o_k = beta_0k + sum_l beta_kl A_l
    backward:  delta_k = dR/do_k
               dR/dbeta_kl = delta_k A_l,    dR/dbeta_0k = delta_k
               s_l = sigma'(a_l) sum_k beta_kl delta_k
               dR/dw_lj = s_l x_j,           dR/dw_l0 = s_l

These are of one example; over a batch they add up. The output unit f = g(o) and its loss only enter
by delta (see `output_deltas`): identity, sigmoid and softmax share all that follows.

Shapes: B batch, D inputs, M hidden units, K outputs.
Source: Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning" (2009), section
11.4.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape


@dataclass(frozen=True, kw_only=True)
class TwoLayer:
    """The four blocks of weights, or of gradients by them.

    Args:
        w0: w_l0, (M,).
        w: w_lj, (M, D).
        beta0: beta_0k, (K,).
        beta: beta_kl, (K, M).
    """

    w0: Tensor
    w: Tensor
    beta0: Tensor
    beta: Tensor

    def __post_init__(self) -> None:
        check_shape("w", self.w, "M", "D")
        check_shape("w0", self.w0, len(self.w))
        check_shape("beta", self.beta, "K", len(self.w))
        check_shape("beta0", self.beta0, len(self.beta))


class TwoLayerKept(NamedTuple):
    """What the backward pass needs: the input (B, D), A (B, M) and beta (K, M)."""

    x: Tensor
    hidden: Tensor
    beta: Tensor


def two_layer_forward(x: Tensor, weights: TwoLayer) -> tuple[Tensor, TwoLayerKept]:
    """The output o before g, (B, D) -> (B, K)."""
    check_shape("x", x, "B", weights.w.shape[1])
    hidden = torch.sigmoid(weights.w0 + x @ weights.w.T)
    return weights.beta0 + hidden @ weights.beta.T, TwoLayerKept(x, hidden, weights.beta)


def two_layer_backward(kept: TwoLayerKept, delta: Tensor) -> TwoLayer:
    """The four blocks of gradients from delta = dR/do, (B, K)."""
    check_shape("delta", delta, len(kept.x), len(kept.beta))
    s = kept.hidden * (1 - kept.hidden) * (delta @ kept.beta)  # (B, M)
    return TwoLayer(
        w0=s.sum(dim=0), w=s.T @ kept.x, beta0=delta.sum(dim=0), beta=delta.T @ kept.hidden
    )
