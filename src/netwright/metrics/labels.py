"""Several labels a sample, each yes or no: how many answers are right, and how sure they are.

An answer is yes where its probability is above one half: one half itself is a no, as of two classes
that are equally likely the first is taken.

Shapes: N samples, K labels; probabilities (N, K), each in [0, 1]; targets (N, K) of 0 and 1.
Source: Zhang and Zhou, "A Review on Multi-Label Learning Algorithms" (2014), section 2.2.
"""

import torch
from torch import Tensor

from netwright.metrics.probability import smallest_probability
from netwright.metrics.samples import (
    check_label_samples,
    check_probabilities,
    exact_dtype,
    weighted_mean,
)

THRESHOLD = 0.5


def is_yes(probabilities: Tensor, threshold: float = THRESHOLD) -> Tensor:
    """Where the probabilities say yes: above the threshold. All that answers or measures asks here.

    Args:
        probabilities: of a yes, of any shape.
        threshold: in [0, 1].
    """
    return probabilities > threshold


def label_accuracy(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The share of single labels that are right; 1 minus this is the Hamming loss."""
    right = _answers(probabilities, targets, weights) == targets.bool()  # (N, K)
    return weighted_mean(right, weights).mean().item()


def subset_accuracy(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The share of samples on which every label is right."""
    right = _answers(probabilities, targets, weights) == targets.bool()
    return weighted_mean(right.all(dim=1), weights).item()


def label_f1(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The mean over labels of 2 hits / (called + true); 0 / 0 counts as 0."""
    called, true = _answers(probabilities, targets, weights), targets.bool()
    hits = weighted_mean(called & true, weights)  # (K,)
    whole = weighted_mean(called, weights) + weighted_mean(true, weights)
    return torch.where(whole > 0, 2 * hits / whole, 0.0).mean().item()


def label_log_loss(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean of -log of the probability of each label's true answer, in nats."""
    least = smallest_probability(probabilities)
    chances = _chances(probabilities, targets, weights).clamp_min(least)
    return weighted_mean(-chances.log(), weights).mean().item()


def label_brier(probabilities: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Mean of (p - y)^2 over samples and labels."""
    misses = 1 - _chances(probabilities, targets, weights)
    return weighted_mean(misses.square(), weights).mean().item()


def _answers(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """Yes or no for each label, (N, K), after the checks."""
    check_label_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    return is_yes(probabilities)


def _chances(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """The probability that was given to each true answer, (N, K), after the checks."""
    check_label_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    exact = probabilities.detach().to(exact_dtype(probabilities.device))
    return torch.where(targets.bool(), exact, 1 - exact)
