"""Weights that store patterns: the Hebbian rule, and the pseudo-inverse that undoes its cross-talk.

Shapes: s patterns, n units; a pattern is a row of -1 and +1.
Source: Hopfield (1982), PNAS 79, 2554-2558; Personnaz, Guyon and Dreyfus, "Information storage and
retrieval in spin-glass like neural networks" (1985), for the pseudo-inverse.
"""

import torch
from torch import Tensor

SMALLEST = 1e-10  # of the largest eigenvalue; below it two patterns are the same


def hebbian_weights(patterns: Tensor) -> Tensor:
    """W = (1/n) sum_t x_t x_t^T with a diagonal of 0, (n, n)."""
    weights = patterns.T @ patterns / patterns.shape[1]
    return weights.fill_diagonal_(0.0)


def pseudo_inverse_weights(patterns: Tensor) -> Tensor:
    """W = X^+ X, the projection onto the span of the patterns, (n, n).

    W x_t = x_t for every stored pattern, however alike they are. The diagonal stays: it lies in
    [0, 1], which lets the energy fall, and without it patterns that span everything are lost.
    """
    # W = X^T (X X^T)^+ X: the eigenvalues of a symmetric matrix are found where the singular values
    # of X, many of which are equal, may not be. Products of -1 and +1 are exact in float64.
    exact = patterns.double()
    inverse: Tensor = torch.linalg.pinv(exact @ exact.T, hermitian=True, rtol=SMALLEST)
    return (exact.T @ inverse @ exact).to(patterns.dtype)


def cross_talk(patterns: Tensor) -> Tensor:
    """C_ti = (1/n) sum_{j != i} sum_{r != t} x_ri x_rj x_tj, what the others add, (s, n).

    The field of unit i in pattern t is (1 - 1/n) x_ti + C_ti: the bit is lost where x_ti C_ti lies
    below that, at about -1. Its variance is (s - 1)/n for random patterns. Often printed with the
    term j = i, which shifts x_ti C_ti by (s - 1)/n.
    """
    own = (1 - 1 / patterns.shape[1]) * patterns
    return patterns @ hebbian_weights(patterns) - own
