"""How far predicted numbers lie from the true ones.

Shapes: N samples, K outputs; predicted and targets are both (N,) or both (N, K), never mixed: a
(N, 1) beside a (N,) would be compared all with all. Several outputs give the plain mean.
Source: Willmott and Matsuura, "Advantages of the mean absolute error over the root mean square
error" (2005); Wright, "Correlation and Causation" (1921), for the share explained.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.errors import ShapeError
from netwright.metrics.samples import (
    check_not_empty,
    check_real,
    check_weights,
    exact_dtype,
    weighted_mean,
)


def mse(predicted: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean squared error; the best constant is the mean of the targets."""
    predicted, targets = _exact_pair(predicted, targets, weights)
    return weighted_mean((predicted - targets).square(), weights).mean().item()


def rmse(predicted: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Root of the mean squared error, in the unit of the targets: one root an output."""
    predicted, targets = _exact_pair(predicted, targets, weights)
    return weighted_mean((predicted - targets).square(), weights).sqrt().mean().item()


def mae(predicted: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean absolute error; the best constant is a median of the targets."""
    predicted, targets = _exact_pair(predicted, targets, weights)
    return weighted_mean((predicted - targets).abs(), weights).mean().item()


def r2(predicted: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The share of the targets' variance that is explained: 1 - squared errors / variance.

    1 is perfect, 0 is no better than the mean, and worse has no lower end. A constant target has no
    variance to explain: 1 where it is hit exactly, else 0. NaN for a single sample.

    Args:
        predicted: (N,) or (N, K).
        targets: of the same shape.
        weights: how much each sample counts, (N,).
    """
    predicted, targets = _exact_pair(predicted, targets, weights)
    if weights is not None:  # a sample that does not count must not make a target vary
        counted = weights > 0
        predicted, targets, weights = predicted[counted], targets[counted], weights[counted]
    if len(targets) < 2:
        return float("nan")
    errors = weighted_mean((predicted - targets).square(), weights)  # () or (K,)
    variance = weighted_mean((targets - weighted_mean(targets, weights)).square(), weights)
    # The mean of equal numbers may be off in the last digit, so ask for equality instead.
    constant = targets.amax(dim=0) == targets.amin(dim=0)
    of_constant = torch.where(errors == 0, 1.0, 0.0).to(errors)
    return torch.where(constant, of_constant, 1 - errors / variance).mean().item()


def _exact_pair(
    predicted: Tensor, targets: Tensor, weights: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Both in the dtype to sum in; refuse shapes that differ, nothing, and what is not finite."""
    if predicted.ndim not in (1, 2):
        raise ShapeError(f"predicted must have shape (N,) or (N, K), got {tuple(predicted.shape)}")
    if predicted.shape != targets.shape:
        raise ShapeError(
            "predicted and targets must have the same shape, "
            f"got {tuple(predicted.shape)} and {tuple(targets.shape)}"
        )
    check_not_empty("predicted", predicted)
    for name, values in (("predicted", predicted), ("targets", targets)):
        check_real(name, values)
        check_finite(name, values.detach())
    check_weights(weights, len(targets))
    exact = exact_dtype(predicted.device)
    return predicted.detach().to(exact), targets.detach().to(exact)
