r"""Batch normalisation worked by hand: the batch's mean and variance have gradients too.

    xhat = (x - mu) / s,    s = sqrt(var + eps),    y = gamma xhat + beta

    dR/dgamma = sum delta xhat,    dR/dbeta = sum delta,
    dR/dx = gamma / s * (delta - mean(delta) - xhat mean(delta xhat))

The means and sums run over all values of a channel. The second term comes back through mu, the
third through var; they are often forgotten. What is left has no part along 1 and, but for eps, none
along xhat: shifts and scales of a channel are undone by the layer, so the loss does not feel them.
In evaluation mu and var are constants, and only gamma / s * delta stays.

Shapes: B batch, C channels or features; x is (B, C) or (B, C, ...).
Source: Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing
Internal Covariate Shift" (2015), section 3.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import ShapeError


class Statistics(NamedTuple):
    """The mean and the variance of each channel, (C,)."""

    mean: Tensor
    variance: Tensor


class BatchNormKept(NamedTuple):
    """What the backward pass needs.

    Args:
        normalized: xhat, of the shape of x.
        scale: gamma / s, (C,).
        of_batch: whether mu and var are those of the batch.
    """

    normalized: Tensor
    scale: Tensor
    of_batch: bool


@dataclass(frozen=True, kw_only=True)
class BatchNormGradients:
    """The gradients by what went into the layer, each of the shape of its tensor."""

    x: Tensor
    weight: Tensor
    bias: Tensor


def batch_norm_forward(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    running: Statistics | None = None,
    eps: float = 1e-5,
) -> tuple[Tensor, BatchNormKept]:
    """The layer's output y = gamma xhat + beta.

    Args:
        x: (B, C) or (B, C, ...).
        weight: gamma, (C,).
        bias: beta, (C,).
        running: mu and var in evaluation; None takes those of the batch, as in training.
        eps: keeps s from 0.
    """
    if x.ndim < 2:
        raise ShapeError(f"x must have shape (B, C) or (B, C, ...), got {tuple(x.shape)}")
    mean, variance = _statistics(x) if running is None else running
    of_channel = {"weight": weight, "bias": bias, "mean": mean, "variance": variance}
    for name, values in of_channel.items():
        check_shape(name, values, x.shape[1])
    spread = (variance + eps).sqrt()
    normalized = (x - _along(mean, x)) / _along(spread, x)
    kept = BatchNormKept(normalized, weight / spread, of_batch=running is None)
    return normalized * _along(weight, x) + _along(bias, x), kept


def batch_norm_backward(kept: BatchNormKept, delta: Tensor) -> BatchNormGradients:
    """The gradients from delta = dR/dy, of the shape of x."""
    normalized = kept.normalized
    check_shape("delta", delta, *normalized.shape)
    channel = _dims(delta)
    through = delta
    if kept.of_batch:
        by_mean = delta.mean(channel, keepdim=True)
        by_variance = (delta * normalized).mean(channel, keepdim=True)
        through = delta - by_mean - normalized * by_variance
    return BatchNormGradients(
        x=through * _along(kept.scale, delta),
        weight=(delta * normalized).sum(channel),
        bias=delta.sum(channel),
    )


def _statistics(x: Tensor) -> Statistics:
    """Those of the batch; the variance is the mean of squares, not divided by one less."""
    if x.numel() == x.shape[1]:
        raise ShapeError(
            f"x must have more than one value a channel to normalise by, got {tuple(x.shape)}"
        )
    return Statistics(x.mean(_dims(x)), x.var(_dims(x), correction=0))


def _dims(x: Tensor) -> list[int]:
    """All dimensions but that of the channels."""
    return [dim for dim in range(x.ndim) if dim != 1]


def _along(values: Tensor, x: Tensor) -> Tensor:
    """Values (C,) as they are broadcast over x."""
    return values.view(-1, *[1] * (x.ndim - 2))
