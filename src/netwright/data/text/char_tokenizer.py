"""Characters as tokens: the smallest vocabulary, the longest sequences.

Source: Sutskever, Martens and Hinton, "Generating text with recurrent neural networks" (2011).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from netwright.core.card import Card
from netwright.data.text.tokenizer import SILENT, SPECIALS, UNK, Tokenizer, most_common


@dataclass(frozen=True, kw_only=True)
class CharTokenizer(Tokenizer):
    """A token a character (a Unicode code point)."""

    kind: ClassVar[str] = "char"
    card: ClassVar[Card] = Card(
        sentence="Each character is a token: nothing is lost, but sequences are long.",
        formula=r"\text{cat} \mapsto (c, a, t)",
        source="Sutskever, Martens and Hinton, Generating text with recurrent neural networks "
        "(2011)",
    )

    @property
    def is_lossless(self) -> bool:
        """All but capital letters comes back."""
        return not self.lower

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "CharTokenizer":
        """All characters of the texts, unless a limit is set; by the alphabet."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text.lower() if lower else text)
        characters = most_common(counts, vocab_size, min_count)[len(SPECIALS) :]
        return cls(tokens=(*SPECIALS, *sorted(characters)), lower=lower)

    def encode(self, text: str) -> list[int]:
        """A token a character."""
        return list(self.each_token(text))

    def each_token(self, text: str) -> Iterable[int]:
        """The same, without a list of them all."""
        known = self.places
        return (known.get(character, UNK) for character in (text.lower() if self.lower else text))

    def decode(self, tokens: Iterable[int]) -> str:
        """The characters, one after the other."""
        return "".join(self.tokens[token] for token in tokens if token not in SILENT)
