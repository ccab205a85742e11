"""A few words whose neighbours are noted while vectors are learned.

Shapes: V tokens, D features, F words that are followed, K neighbours, E epochs that are noted.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from netwright.data.text.tokenizer import SPECIALS

FOLLOWED, NEIGHBOURS, NOTED = 6, 3, 8  # F, K, E at most
FIRST_RANK, LAST_RANK = 60, 3000  # the most common words are "the" and its like


def noted_epochs(epochs: int) -> list[int]:
    """After which epochs neighbours are noted: the first, the last, and some between them."""
    return sorted({round(place) for place in np.linspace(1, epochs, min(epochs, NOTED))})


def followed_words(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of several ranks, neither the most common nor rare ones (F,)."""
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    last = min(LAST_RANK, len(order) - 1)
    ranks = np.geomspace(max(1, min(FIRST_RANK, last // 4)), max(1, last), FOLLOWED)
    chosen: NDArray[np.int64] = order[np.unique(ranks.round().astype(np.int64)).clip(0, last)]
    return chosen


def nearest_words(vectors: Tensor, words: Tensor, count: int) -> Tensor:
    """The tokens with the largest cosines with each word (F, K); what is no word is none."""
    units = F.normalize(vectors.detach(), dim=1)
    cosines = units[words] @ units.T
    cosines[:, : len(SPECIALS)] = -torch.inf
    cosines.scatter_(1, words[:, None], -torch.inf)
    return cosines.topk(count, dim=1).indices
