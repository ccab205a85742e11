r"""How much more often two words meet than by chance: pointwise mutual information.

    PMI(w, c)  = log P(w, c) / (P(w) P(c)) = log N(w, c) |pairs| / (N(w) N(c))
    PPMI(w, c) = max(0, PMI(w, c) - log k)

Rare contexts get large values of few counts; P(c) from counts to the power 0.75 lowers them. With
shift k the values are those that skip-gram with k negative samples approaches.

Shapes: V words, U contexts.
Source: Church and Hanks (1990); Levy and Goldberg, "Neural Word Embedding as Implicit Matrix
Factorization" (2014); Levy, Goldberg and Dagan (2015) for the smoothing.
"""

import numpy as np
from scipy.sparse import csr_array

from netwright.core.checks import check_positive
from netwright.core.errors import DataError


def pointwise_information(counts: csr_array, *, smoothing: float = 1.0) -> csr_array:
    """PMI of the pairs that occur (V, U); of others, where it is -infinity, nothing is held.

    Args:
        counts: how often word w and context c meet (V, U).
        smoothing: the power of the counts of contexts; 1 is the plain formula.
    """
    check_positive("smoothing", smoothing)
    met: csr_array = counts.astype(np.float64)  # a copy
    wrong = met.data[~((met.data >= 0) & (met.data < np.inf))]  # NaN too
    if len(wrong):
        raise DataError(f"counts must be finite and not negative, got {wrong[0]:g}")
    met.eliminate_zeros()
    if not met.nnz:
        raise DataError("no two words meet: there is nothing to associate")
    words, contexts = met.sum(axis=1), met.sum(axis=0) ** smoothing  # (V,), (U,)
    pairs = met.tocoo()
    chance = words[pairs.row] * (contexts / contexts.sum())[pairs.col]
    found: csr_array = csr_array(
        (np.log(pairs.data / chance), (pairs.row, pairs.col)), shape=met.shape
    )
    return found


def positive_information(
    counts: csr_array, *, smoothing: float = 1.0, shift: float = 1.0
) -> csr_array:
    """PPMI (V, U): PMI less log `shift`, and 0 where that is negative or the two never meet."""
    check_positive("shift", shift)
    positive = pointwise_information(counts, smoothing=smoothing)
    positive.data = np.maximum(positive.data - np.log(shift), 0.0)
    positive.eliminate_zeros()
    return positive
