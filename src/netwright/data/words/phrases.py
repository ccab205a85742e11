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
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLD = 100.0  # as in word2phrase.c
END = 0  # the number of what ends a text
Words = NDArray[np.int32]
Keys = NDArray[np.int64]


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
    keys, times = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for part in _overlapping(parts):
        first, second = part[:-1].astype(np.int64), part[1:]
        counted = is_common[first] & is_common[second]
        found, often = np.unique(first[counted] * size + second[counted], return_counts=True)
        both = np.concatenate((keys, found))
        keys, places = np.unique(both, return_inverse=True)
        times = np.bincount(places, np.concatenate((times, often)), len(keys)).astype(np.int64)
    total = int(counts[1:].sum())
    chance = counts[keys // size].astype(np.float64) * counts[keys % size]
    return keys[(times - least) * float(total) > THRESHOLD * chance]


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
