r"""Words that belong together: "new york" is one thing, "the cat" is two.

    score(a, b) = (N(a b) - d) / (N(a) N(b)) L        joined as a_b where it is above a threshold

L are the words of the text; d, the least count of a word, keeps out pairs of rare words that met by
chance. From left to right, a word is joined to the next if it was not joined to the one before;
a second pass makes phrases of up to four words.

Shapes: L words of the text, N words of a part, P phrases.
Source: Mikolov et al., "Distributed Representations of Words and Phrases and their
Compositionality" (2013), equation 6, scaled as in its code.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 100.0  # as in word2phrase.c
END = 0  # the number of what ends a text
Words = NDArray[np.int32]
Keys = NDArray[np.int64]
Counts = tuple[Keys, NDArray[np.int64]]  # pairs, sorted, and how often each comes
NONE: Counts = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def find_phrases(parts: Iterable[Words], counts: NDArray[np.integer[Any]], least: int) -> Keys:
    """The pairs to be joined, sorted: first word times the vocabulary, plus the second (P,).

    Args:
        parts: the text in parts of whole numbers; 0 ends a text.
        counts: how often each word occurs (V,).
        least: the least count of a word, d; rarer words are in no phrase.
    """
    size = len(counts)
    is_common = counts >= least
    is_common[END] = False
    total = float(counts[1:].sum())
    # A pair comes at most as often as its rarer word: one with a word of more than this has no
    # score above the threshold.
    is_common &= counts < total / THRESHOLD
    counted: list[Counts] = []
    for part in _overlapping(parts):
        first, second = part[:-1].astype(np.int64), part[1:]
        both = is_common[first] & is_common[second]
        counted.append(np.unique(first[both] * size + second[both], return_counts=True))
        # As in a binary counter: each pair is added to others a few times, however long the text.
        while len(counted) > 1 and len(counted[-1][0]) > len(counted[-2][0]) // 2:
            counted.append(_sum_of(counted.pop(), counted.pop()))
    keys, times = reduce(_sum_of, reversed(counted), NONE)
    chance = counts[keys // size].astype(np.float64) * counts[keys % size]
    return keys[(times - least) * total > THRESHOLD * chance]


def _sum_of(some: Counts, others: Counts) -> Counts:
    """The pairs of both, sorted, and how often they come in both together."""
    keys, places = np.unique(np.concatenate((some[0], others[0])), return_inverse=True)
    times = np.bincount(places, np.concatenate((some[1], others[1])), len(keys))
    return keys, times.astype(np.int64)


def join_phrases(parts: Iterable[Words], phrases: Keys, size: int) -> Iterator[Words]:
    """The text with `size` + p in place of the two words of phrase p."""
    rest = np.empty(0, dtype=np.int32)
    for part in parts:
        words = np.concatenate((rest, part))
        pairs = words[:-1].astype(np.int64) * size + words[1:]
        places = np.searchsorted(phrases, pairs)
        is_phrase = np.zeros(len(words), dtype=np.bool_)
        if len(phrases):
            is_phrase[:-1] = phrases[np.minimum(places, len(phrases) - 1)] == pairs
        begins = _every_other(np.flatnonzero(is_phrase))
        words[begins] = size + places[begins]
        stays = np.ones(len(words), dtype=np.bool_)
        stays[begins + 1] = False
        # The last word may be joined to the first of the next part, unless it is taken.
        is_free = len(words) > 0 and stays[-1]
        rest = words[-1:] if is_free else words[:0]
        yield words[: len(words) - is_free][stays[: len(words) - is_free]]
    yield rest


def _every_other(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of places that follow each other the first, the third ...: a word is in one phrase."""
    if not len(places):
        return places
    is_first = np.diff(places, prepend=places[0] - 2) > 1
    runs = places[is_first][np.cumsum(is_first) - 1]
    kept: NDArray[np.intp] = places[(places - runs) % 2 == 0]
    return kept


def _overlapping(parts: Iterable[Words]) -> Iterator[Words]:
    """Each part behind the last word of the one before."""
    last = np.empty(0, dtype=np.int32)
    for part in parts:
        joined = np.concatenate((last, part))
        yield joined
        last = joined[-1:]
