"""How good the probabilities of a classifier are, beyond which class comes first.

Log loss and the Brier score are proper: no other answer than the true probability does better on
average, so they punish both doubt where there is none and certainty where there is doubt.

Shapes: N samples, C classes; probabilities (N, C) with rows that sum to 1, int64 targets (N,).
Source: Good, "Rational Decisions" (1952); Brier, "Verification of Forecasts Expressed in Terms of
Probability" (1950).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_positive
from netwright.metrics.samples import (
    check_class_samples,
    check_probabilities,
    check_rows_sum_to_one,
    exact_dtype,
    weighted_mean,
)


def smallest_probability(probabilities: Tensor) -> float:
    """The least probability a log is taken of: the rounding unit of float32, or of float64."""
    return torch.finfo(torch.promote_types(probabilities.dtype, torch.float32)).eps


def log_loss(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean of -log p(target), in nats; a probability of 0 counts as the rounding unit.

    Args:
        probabilities: (N, C), rows sum to 1.
        targets: the true classes, int64 (N,).
        weights: how much each sample counts, (N,).
    """
    _check_distribution(probabilities, targets, weights)
    chosen = probabilities.detach().gather(1, targets[:, None]).squeeze(1)  # (N,)
    exact = chosen.to(exact_dtype(chosen.device)).clamp_min(smallest_probability(probabilities))
    return weighted_mean(-exact.log(), weights).item()


def brier(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean squared distance of the probabilities from the truth.

    With two classes this is (p_1 - y)^2, between 0 and 1; with more the squares are summed over the
    classes, between 0 and 2.

    Args:
        probabilities: (N, C), rows sum to 1.
        targets: the true classes, int64 (N,).
        weights: how much each sample counts, (N,).
    """
    _check_distribution(probabilities, targets, weights)
    num_classes = probabilities.shape[1]
    exact = probabilities.detach().to(exact_dtype(probabilities.device))
    squares = (exact - F.one_hot(targets, num_classes)).square()  # (N, C)
    distances = squares[:, 1] if num_classes == 2 else squares.sum(dim=1)
    return weighted_mean(distances, weights).item()


def top_k_accuracy(
    probabilities: Tensor, targets: Tensor, k: int, weights: Tensor | None = None
) -> float:
    """The share of samples whose class is among the k likeliest.

    Among equals the lower class leads, so that k = 1 is the accuracy of `argmax`, ties included.
    Only the order matters: scores and logits do as well as probabilities.

    Args:
        probabilities: (N, C).
        targets: the true classes, int64 (N,).
        k: how many answers are allowed.
        weights: how much each sample counts, (N,).
    """
    check_positive("k", k)
    check_class_samples("probabilities", probabilities, targets, weights)
    classes = torch.arange(probabilities.shape[1], device=targets.device)
    chosen = probabilities.gather(1, targets[:, None])  # (N, 1)
    tied_before = (probabilities == chosen) & (classes < targets[:, None])
    rank = ((probabilities > chosen) | tied_before).sum(dim=1)  # (N,), 0 is the likeliest
    return weighted_mean(rank < k, weights).item()


def _check_distribution(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not distributions (N, C) with targets (N,)."""
    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    check_rows_sum_to_one(probabilities)
