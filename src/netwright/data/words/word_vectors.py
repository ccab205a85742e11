r"""Words with their vectors: which are alike, and which stands to one as a second to a third.

    similar(w):          the largest cos(v_w, v)
    analogy(a, b, c):    the largest cos(a/|a| - b/|b| + c/|c|, v), a, b and c left out
    odd one out:         the smallest cosine with the mean of all

Shapes: V words, D features.
Source: Mikolov, Yih and Zweig, "Linguistic Regularities in Continuous Space Word Representations"
(2013).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import ConfigError, DataError

Vectors = NDArray[np.float32]
COMPARED = 50_000  # words to which the spelling of an unknown one is compared
LENGTHS_APART, SPELLINGS = 2, 3  # letters; words that are offered


@dataclass(frozen=True, kw_only=True)
class WordVectors:
    """Vectors by word.

    Args:
        words: their names, V.
        vectors: (V, D), float32.
    """

    words: tuple[str, ...]
    vectors: Vectors

    def __post_init__(self) -> None:
        """Refuse vectors of other words, names that come twice, and what is not finite."""
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words):
            raise DataError(
                f"{len(self.words)} words need as many vectors, got shape {self.vectors.shape}"
            )
        if len(self.places) < len(self.words):
            twice = next(w for place, w in enumerate(self.words) if self.places[w] != place)
            raise DataError(f"the word {twice!r:.40} has two vectors, wanted one for each")
        finite = np.isfinite(self.vectors).all(axis=1)
        if not finite.all():
            wrong = self.words[int(finite.argmin())]
            raise DataError(f"the vector of {wrong!r:.40} must be finite, got NaN or infinity")

    @cached_property
    def places(self) -> dict[str, int]:
        """Word -> its row."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def units(self) -> Vectors:
        """The vectors with length 1 (V, D); a vector of zeros stays as it is."""
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        units: Vectors = self.vectors / np.maximum(lengths, 1e-12)
        return units

    def place(self, word: str) -> int | None:
        """The row of a word, or of it in lower case; None where neither is known."""
        return self.places.get(word, self.places.get(word.lower()))

    def row(self, word: str) -> int:
        """The row of a word; an unknown one is refused with the nearest spelling."""
        place = self.place(word)
        if place is None:
            raise ConfigError(f"{word!r} is not in the vocabulary{self._near_spellings(word)}")
        return place

    def _near_spellings(self, word: str) -> str:
        """Give "; did you mean 'x' or 'y'?" where words are spelled nearly so, else nothing.

        Of words about as long, and the most common ones: to compare two takes a while.
        """
        known = [
            other for other in self.words[:COMPARED] if abs(len(other) - len(word)) <= LENGTHS_APART
        ]
        close = get_close_matches(word.lower(), known, n=SPELLINGS, cutoff=0.6)
        *others, last = [repr(one) for one in close] or [""]
        named = f"{', '.join(others)} or {last}" if others else last
        return f"; did you mean {named}?" if close else ""

    def similar(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words whose vectors point most as that of this one, with their cosines."""
        row = self.row(word)
        return self._best(self.units @ self.units[row], {row}, count)

    def analogy(self, a: str, b: str, c: str, count: int = 5) -> list[tuple[str, float]]:
        """What is to c as a is to b, a - b + c: king man woman -> queen."""
        rows = [self.row(word) for word in (a, b, c)]
        wanted = self.units[rows[0]] - self.units[rows[1]] + self.units[rows[2]]
        wanted /= max(float(np.linalg.norm(wanted)), 1e-12)
        return self._best(self.units @ wanted, set(rows), count)

    def odd_one_out(self, words: Sequence[str]) -> str:
        """The word that is least like the others."""
        if len(words) < 3:
            raise ConfigError(f"the odd one out is one of at least 3 words, got {len(words)}")
        units = self.units[[self.row(word) for word in words]]
        return words[int((units @ units.mean(axis=0)).argmin())]

    def _best(self, cosines: Vectors, without: set[int], count: int) -> list[tuple[str, float]]:
        """The words of the largest cosines (V,)."""
        order = np.argsort(-cosines, kind="stable")[: count + len(without)]
        found = [(self.words[row], float(cosines[row])) for row in order if row not in without]
        return found[:count]
