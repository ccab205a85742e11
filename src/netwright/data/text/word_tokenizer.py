"""Words as tokens: what stands between blanks, or words and marks told apart.

    words     "It's re-made, again."  ->  It's  re-made  ,  again  .
    spaces    "It 's <unk> ."         ->  It  's  <unk>  .        where the text is split already

Rare words are left out of the vocabulary: they share one token, unknown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Literal

from netwright.core.card import Card
from netwright.data.text.tokenizer import EOS, SILENT, UNK, Tokenizer, most_common

Splitting = Literal["words", "spaces"]
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class WordTokenizer(Tokenizer):
    """A token a word.

    Args:
        split_at: words and marks are told apart, or only blanks separate.
        line_ends: the end of a line is the token EOS; else it is a blank like others.
    """

    kind: ClassVar[str] = "word"
    card: ClassVar[Card] = Card(
        sentence="Each word and punctuation mark is a token; rare ones map to the unknown token.",
        formula=r"w \mapsto i(w) \text{ if } n(w) \ge n_{\min}, \text{ else } 1",
        symbols={
            "i(w)": "the place of word w by how often it occurs",
            "n(w)": "how often w occurs in the training texts",
            r"n_{\min}": "min_count",
        },
        source="Bengio et al., A neural probabilistic language model (2003), section 4",
    )

    split_at: Splitting = "words"
    line_ends: bool = False

    @property
    def is_lossless(self) -> bool:
        """How many blanks there were is lost."""
        return False

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
        split_at: Splitting = "words",
        line_ends: bool = False,
    ) -> "WordTokenizer":
        """The most common words of the texts; without limits all of them."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_split(text, lower, split_at))
        return cls(
            tokens=most_common(counts, vocab_size, min_count),
            lower=lower,
            split_at=split_at,
            line_ends=line_ends,
        )

    @classmethod
    def fit_words(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "WordTokenizer":
        """The same for texts that come as words."""
        words = chain.from_iterable(sentences)
        counts = Counter(word.lower() for word in words) if lower else Counter(words)
        return cls(
            tokens=most_common(counts, vocab_size, min_count), lower=lower, split_at="spaces"
        )

    def encode(self, text: str) -> list[int]:
        """A token a word."""
        if not self.line_ends:
            return self._tokens(text)
        lines = text.split("\n")
        ended = [[*self._tokens(line), EOS] for line in lines[:-1]]
        return [*chain.from_iterable(ended), *self._tokens(lines[-1])]

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """A token for each of these words, whatever they hold."""
        known = self.places
        return [known.get(word.lower() if self.lower else word, UNK) for word in words]

    def decode(self, tokens: Iterable[int]) -> str:
        """The words with blanks between them."""
        lines: list[list[str]] = [[]]
        for token in tokens:
            if token == EOS and self.line_ends:
                lines.append([])
            elif token not in SILENT:
                lines[-1].append(self.tokens[token])
        return "\n".join(" ".join(line) for line in lines)

    def _tokens(self, text: str) -> list[int]:
        known = self.places
        return [known.get(word, UNK) for word in _split(text, self.lower, self.split_at)]


def _split(text: str, lower: bool, split_at: Splitting) -> list[str]:
    text = text.lower() if lower else text
    return text.split() if split_at == "spaces" else WORD.findall(text)
