r"""Which words are left out of a text, and which are drawn as noise, by how often they occur.

    P(word w is kept) = min(1, sqrt(s / f_w) + s / f_w)        f_w: its share of all words
    P(word w is noise) ~ N(w)^0.75

Drawing takes two numbers, whatever the size of the vocabulary (the alias method): a word by an even
chance, and then it or its alias.

Shapes: V words.
Source: Mikolov et al., "Distributed Representations of Words and Phrases" (2013), with the formula
of its code; Walker (1977) and Vose (1991) for the alias method.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POWER = 0.75  # of the counts, for noise


def keep_chances(counts: NDArray[np.int64], sample: float) -> NDArray[np.float32]:
    """The chance that each word of a text stays (V,); with sample 0 all stay."""
    if not sample:
        return np.ones(len(counts), dtype=np.float32)
    shares = counts / max(int(counts.sum()), 1)
    ratio = sample / np.maximum(shares, 1e-300)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)


def noise_chances(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The chance that each word is drawn as noise (V,); 0 for a word that does not occur."""
    weights = counts.astype(np.float64) ** POWER
    chances: NDArray[np.float64] = weights / weights.sum()
    return chances


class AliasTable(NamedTuple):
    """What draws from a distribution: place j by an even chance, then j or its alias.

    Args:
        stays: the chance that it is j (V,).
        alias: what it is otherwise (V,).
    """

    stays: NDArray[np.float32]
    alias: NDArray[np.int32]


def alias_table(chances: NDArray[np.float64]) -> AliasTable:
    """The table of a distribution (V,)."""
    left = chances * len(chances)
    stays, alias = np.ones(len(left), dtype=np.float32), np.arange(len(left), dtype=np.int32)
    small, large = list(np.flatnonzero(left < 1)), list(np.flatnonzero(left >= 1))
    while small and large:
        poor, rich = small.pop(), large[-1]
        stays[poor], alias[poor] = left[poor], rich
        left[rich] -= 1 - left[poor]
        if left[rich] < 1:
            small.append(large.pop())
    return AliasTable(stays, alias)
