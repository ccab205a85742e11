"""A column of free text: one 0-or-1 column for each of its commonest words, which says it occurs.

Whether a word occurs tells as much as how often, or more, in texts as short as cells of a table.

Shapes: N rows, V words.
Source: Pang, Lee and Vaithyanathan, "Thumbs up? Sentiment Classification using Machine Learning
Techniques" (2002), section 6.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.tables.features.feature import MISSING, Feature
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

MOST_WORDS = 200  # that are kept, unless a setting says otherwise
FEWEST_ROWS = 2  # in which a word occurs: what stands in one row says nothing about others
NO_WORD = "no known word"
WORD = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}]\w+)*")


def words_of(text: str) -> frozenset[str]:
    """The different words of a text: letters and digits, without regard to case."""
    return frozenset(WORD.findall(text.casefold()))


@dataclass(frozen=True, kw_only=True)
class TextFeature(Feature):
    """Which of the known words occur in a text; a missing cell is a text without words.

    Args:
        name: the column.
        words: those that are known (V,), by the alphabet.
        distinct: the number of different words in the training rows.
    """

    kind: ClassVar[str] = "text"
    name: str
    words: tuple[str, ...]
    distinct: int

    def __post_init__(self) -> None:
        """Refuse a word that stands twice: no training gives that."""
        if len(set(self.words)) < len(self.words):
            raise DataError(f"the words of {self.name!r:.60} are not all different")

    @classmethod
    def fit(cls, column: TrainingColumn, max_words: int) -> "TextFeature":
        """Keep the words that occur in most training rows, and in two of them at least."""
        rows: dict[str, int] = defaultdict(int)
        amounts: dict[str, float] = defaultdict(float)
        for text, amount in column.amounts.items():
            for word in words_of(text):
                rows[word] += column.counts[text]
                amounts[word] += amount
        known = [word for word, count in rows.items() if count >= FEWEST_ROWS]
        known.sort(key=lambda word: (-amounts[word], word))  # equals by name
        return cls(name=column.name, words=tuple(sorted(known[:max_words])), distinct=len(rows))

    def feature_names(self) -> tuple[str, ...]:
        """column=word."""
        return tuple(f"{self.name}={word}" for word in self.words)

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """1 where a word occurs (N, V)."""
        codes, texts = table.column(self.name).coded
        return self._occurrences(texts)[codes]

    def units(self) -> list[tuple[float, float]]:
        """0 and 1 are what they are."""
        return [(0.0, 1.0)] * len(self.words)

    def decode(self, values: Sequence[float]) -> str:
        """The known words of the text, by the alphabet."""
        found = [word for word, value in zip(self.words, values, strict=True) if value]
        return " ".join(found) or NO_WORD

    def remarks(self, table: RawTable) -> list[str]:
        """Rows of whose words training had none, where these are the most, and missing cells."""
        cells = table.column(self.name)
        codes, texts = cells.coded
        is_strange = self._occurrences(texts).sum(axis=1)[codes] == 0
        count = int((is_strange & ~cells.is_missing).sum())
        if 2 * count <= len(table):
            return []
        return [f"{self.name}: {count} of {len(table)} rows have none of the words of training"]

    def note(self, missing: int) -> str:
        """How many words there are, and which are known."""
        gone = f", {missing} {MISSING} (without words)" if missing else ""
        kept = f"the {len(self.words)} most common" if self.words else "none"
        return f"text, {self.distinct} different words, {kept} kept as columns{gone}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": self.kind, **asdict(self), "words": list(self.words)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TextFeature":
        """The feature that `to_json` gave."""
        return cls(name=values["name"], words=tuple(values["words"]), distinct=values["distinct"])

    def _occurrences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        places = {word: place for place, word in enumerate(self.words)}
        found = np.zeros((len(texts), len(places)), np.float32)
        for row, text in enumerate(texts):
            found[row, [places[word] for word in words_of(text) & places.keys()]] = 1
        return found
