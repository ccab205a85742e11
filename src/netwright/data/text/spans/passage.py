"""A context as words and tokens: which characters each word has, and which tokens.

Answers are spans of whole words: one that cuts a word is taken to be all of it.

Shapes: W words, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from netwright.data.text.tokenizer import UNK, Tokenizer
from netwright.data.text.word_tokenizer import WORD


@dataclass(frozen=True, kw_only=True)
class Passage:
    """One context.

    Args:
        text: as it is written.
        words: first character, and the one behind the last, of each word.
        tokens: of all words, in their order.
        word_of: the word of each token.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    tokens: tuple[int, ...]
    word_of: tuple[int, ...]

    def tokens_of(self, begin: int, end: int) -> tuple[int, int]:
        """The first and the last token of the words that these characters touch."""
        touched = [
            place
            for place, (first, behind) in enumerate(self.words)
            if behind > begin and first < end
        ]
        first, last = touched[0], touched[-1]
        count = len(self.word_of)
        return self.word_of.index(first), count - 1 - self.word_of[::-1].index(last)

    def text_of(self, first: int, last: int) -> str:
        """What is written from one token to another, to the ends of their words."""
        begin, end = self._characters(first, last)
        return self.text[begin:end]

    def marked(self, first: int, last: int) -> str:
        """The whole text, with [[ and ]] around what is written there."""
        begin, end = self._characters(first, last)
        return f"{self.text[:begin]}[[{self.text[begin:end]}]]{self.text[end:]}"

    def _characters(self, first: int, last: int) -> tuple[int, int]:
        return self.words[self.word_of[first]][0], self.words[self.word_of[last]][1]


def read_passages(texts: Sequence[str], tokenizer: Tokenizer) -> dict[str, Passage]:
    """Each different text as a passage."""
    return {text: _read(text, tokenizer) for text in dict.fromkeys(texts)}


def _read(text: str, tokenizer: Tokenizer) -> Passage:
    words = tuple(found.span() for found in WORD.finditer(text))
    pieces = tokenizer.encode_all([text[begin:end] for begin, end in words])
    parts = [piece or [UNK] for piece in pieces]
    return Passage(
        text=text,
        words=words,
        tokens=tuple(token for part in parts for token in part),
        word_of=tuple(place for place, part in enumerate(parts) for _ in part),
    )
