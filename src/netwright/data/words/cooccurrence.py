r"""Which words stand near which: the counts that vectors of words are made of.

    N(w, c) = number of places s != t with w_s = w, w_t = c and |s - t| <= L, in one text

Texts are read once and in parts, so that they may be larger than memory; only the pairs that occur
are held.

Shapes: V words, N words of a text.
Source: Lund and Burgess, "Producing high-dimensional semantic spaces" (1996).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from netwright.core.checks import check_positive
from netwright.core.errors import DataError

Words = NDArray[np.integer[Any]]  # of one text (N,); a negative one is in no vocabulary
UNKNOWN = -1
TOGETHER = 2**20  # words that are counted at a time: they bound the memory of a count


def count_cooccurrences(texts: Iterable[Words], size: int, window: int) -> csr_array:
    """How often word c stands at most `window` places from word w, in one text: (V, V), symmetric.

    Args:
        texts: words by number (N,) each; a negative one is unknown: it takes its place, and is
            counted with nothing.
        size: words of the vocabulary, V.
        window: the farthest distance that counts, L.
    """
    check_positive("size", size)
    check_positive("window", window)
    after = csr_array((size, size), dtype=np.float64)
    for words, firsts in _parts(texts, window):
        if words.max(initial=UNKNOWN) >= size:
            raise DataError(f"word {words.max()} is out of range: there are {size} words")
        for distance in range(1, window + 1):
            second = words[distance : distance + firsts]
            after = after + _pairs(words[: len(second)], second, size)
    return csr_array(after + after.T)


def _pairs(first: Words, second: Words, size: int) -> csr_array:
    """How often each pair of known words stands at one place of two texts (V, V)."""
    known = (first >= 0) & (second >= 0)
    rows, columns = first[known], second[known]
    counted = coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    return counted.tocsr()  # adds up what occurs more than once


def _parts(texts: Iterable[Words], window: int) -> Iterator[tuple[Words, int]]:
    """Words to be counted together, and how many of them may be the first of a pair.

    Short texts are put together, so far apart that no pair crosses; of a long one each part sees
    the words that follow it.
    """
    gap = np.full(window, UNKNOWN)
    waiting: list[Words] = []
    count = 0
    for text in texts:
        if len(text) > TOGETHER:
            for begin in range(0, len(text), TOGETHER):
                yield text[begin : begin + TOGETHER + window], TOGETHER
            continue
        waiting += [text, gap]
        count += len(text) + window
        if count >= TOGETHER:
            yield np.concatenate(waiting), count
            waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting), count
