"""What every metric is handed: samples with their targets and weights, checked at the door.

A weight says how many times a sample counts: 2 is the sample twice, 0 is the sample not there.

Shapes: N samples, C classes, K labels or outputs, I rows, J columns.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError, ShapeError

# A softmax in half precision is off by this much and no more; logits are off by far more.
ROW_SUM_TOLERANCE = 1e-2
RANGE_TOLERANCE = 1e-4


def exact_dtype(device: torch.device | str) -> torch.dtype:
    """float64, so that sums over millions of samples stay exact; MPS has float32 at most."""
    return torch.float32 if torch.device(device).type == "mps" else torch.float64


def weighted_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    """The sum of w_i v_i over the sum of w_i: (N,) gives one number, (N, K) one a column."""
    exact = values.detach().to(exact_dtype(values.device))
    if weights is None:
        return exact.mean(dim=0)
    amounts = weights.detach().to(exact)  # (N,)
    return (exact.movedim(0, -1) * amounts).sum(dim=-1) / amounts.sum()


def check_not_empty(name: str, tensor: Tensor) -> None:
    """Refuse a tensor that holds nothing: there is no mean of no samples."""
    if tensor.numel() == 0:
        raise ShapeError(f"{name} must not be empty, got shape {tuple(tensor.shape)}")


def check_real(name: str, tensor: Tensor) -> None:
    """Refuse complex numbers: they have no order, and half of each would be dropped."""
    if tensor.is_complex():
        raise DataError(f"{name} must be real numbers, got {tensor.dtype}")


def check_weights(weights: Tensor | None, num_samples: int) -> None:
    """Refuse weights that are not (N,), not finite, negative, or all zero."""
    if weights is None:
        return
    check_shape("weights", weights, num_samples)
    check_real("weights", weights)
    check_finite("weights", weights.detach())
    low, high = weights.detach().aminmax()
    if low < 0:
        raise DataError(f"weights must not be negative, got {low.item()}")
    if high == 0:
        raise DataError("weights must not all be zero")


def check_classes(name: str, classes: Tensor, num_classes: int) -> None:
    """Refuse what is not a class number in [0, C)."""
    if classes.dtype != torch.int64:
        raise DataError(f"{name} must be int64, got {classes.dtype}")
    low, high = classes.aminmax()
    if low < 0 or high >= num_classes:
        wrong = low if low < 0 else high
        raise DataError(f"{name} must lie in [0, {num_classes}), got {wrong.item()}")


def check_class_samples(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not finite scores (N, C), class numbers (N,) and weights (N,)."""
    check_shape(name, scores, "N", "C")
    check_not_empty(name, scores)
    check_shape("targets", targets, scores.shape[0])
    check_classes("targets", targets, scores.shape[1])
    check_real(name, scores)
    check_finite(name, scores.detach())
    check_weights(weights, scores.shape[0])


def check_label_samples(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not finite scores (N, K), targets (N, K) of 0 and 1, and weights (N,)."""
    check_shape(name, scores, "N", "K")
    check_not_empty(name, scores)
    check_shape("targets", targets, *scores.shape)
    wrong = (targets != 0) & (targets != 1)  # NaN is neither, so it is caught too
    if wrong.any():
        raise DataError(f"targets must be 0 or 1, got {targets[wrong][0].item()}")
    check_real(name, scores)
    check_finite(name, scores.detach())
    check_weights(weights, scores.shape[0])


def check_mask_samples(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not finite scores (N, C, I, J), masks (N, I, J) of classes, weights (N,)."""
    check_shape(name, scores, "N", "C", "I", "J")
    check_not_empty(name, scores)
    check_shape("targets", targets, scores.shape[0], *scores.shape[2:])
    classes = targets.long() if targets.dtype == torch.uint8 else targets
    check_classes("targets", classes, scores.shape[1])
    check_real(name, scores)
    check_finite(name, scores.detach())
    check_weights(weights, scores.shape[0])


def check_probabilities(probabilities: Tensor) -> None:
    """Refuse what lies outside [0, 1], as logits do."""
    low, high = probabilities.detach().aminmax()
    if low < -RANGE_TOLERANCE or high > 1 + RANGE_TOLERANCE:
        wrong = low if low < -RANGE_TOLERANCE else high
        raise DataError(f"probabilities must lie in [0, 1], got {wrong.item():g}")


def check_rows_sum_to_one(probabilities: Tensor) -> None:
    """Refuse rows (N, C) that are no distribution over the classes."""
    sums = probabilities.detach().sum(dim=1, dtype=exact_dtype(probabilities.device))
    off = (sums - 1).abs()
    row = int(off.argmax())
    if off[row] > ROW_SUM_TOLERANCE:
        raise DataError(
            f"a row of probabilities must sum to 1, got {sums[row].item():g} in row {row}"
        )
