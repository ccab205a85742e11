"""A tokenizer: text -> whole numbers and back, by a vocabulary that was fitted once.

The first four tokens of every vocabulary are not text: padding, a token that is unknown, the
beginning and the end. A text in which their names stand ("<pad>") is encoded like any other text.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from netwright.core.card import Card
from netwright.core.errors import ConfigError, DataError
from netwright.core.flat_record import from_plain, to_plain

PAD, UNK, BOS, EOS = range(4)
SPECIALS = ("<pad>", "<unk>", "<bos>", "<eos>")
SILENT = frozenset({PAD, BOS, EOS})  # they leave nothing in a text


@dataclass(frozen=True, kw_only=True)
class Tokenizer(ABC):
    """Text <-> tokens; it holds text only, so it travels as JSON.

    Args:
        tokens: the name of each token, in the order of their numbers; the first are SPECIALS.
        lower: capital letters are read as small ones.
    """

    kind: ClassVar[str]
    card: ClassVar[Card]

    tokens: tuple[str, ...]
    lower: bool = False

    def __post_init__(self) -> None:
        """Refuse a vocabulary that does not begin with the special tokens, or names one twice."""
        if not all(isinstance(token, str) for token in self.tokens):
            raise DataError("tokens must be texts")
        if self.tokens[: len(SPECIALS)] != SPECIALS:
            begin = ", ".join(self.tokens[: len(SPECIALS)])
            raise DataError(f"tokens must begin with {', '.join(SPECIALS)}, got {begin}")
        if len(set(self.tokens)) < self.size:
            twice = Counter(self.tokens).most_common(1)[0][0]
            raise DataError(f"tokens must differ, {twice!r} appears twice")

    @property
    def size(self) -> int:
        """How many different tokens there are, with the special ones."""
        return len(self.tokens)

    @cached_property
    def places(self) -> dict[str, int]:
        """Name -> token, for all but the special ones."""
        return {name: token for token, name in enumerate(self.tokens) if token >= len(SPECIALS)}

    @property
    @abstractmethod
    def is_lossless(self) -> bool:
        """Whether decoding gives back the very text, where none of it was unknown."""

    @classmethod
    @abstractmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "Tokenizer":
        """Find the vocabulary of some texts.

        Args:
            texts: what is learned from, and nothing else.
            vocab_size: how many tokens at most, with the special ones; None: the kind's own limit.
            min_count: how often a token must occur.
            lower: read capital letters as small ones.
        """

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The tokens of a text; what is not in the vocabulary is UNK."""

    def each_token(self, text: str) -> Iterable[int]:
        """As `encode`, one by one where that is possible: a list takes as much memory again."""
        return self.encode(text)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text."""
        return [self.encode(text) for text in texts]

    @abstractmethod
    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens; padding, beginning and end leave nothing, UNK leaves its name."""

    def text_of(self, token: int) -> str:
        """One token as a person reads it."""
        return self.tokens[token]

    def to_json(self) -> dict[str, Any]:
        """Plain text and lists, with the kind."""
        return {"kind": self.kind, **to_plain(self)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Tokenizer":
        """The tokenizer that `to_json` gave."""
        return from_plain(cls, {name: value for name, value in values.items() if name != "kind"})


def most_common(counts: Counter[str], vocab_size: int | None, min_count: int) -> tuple[str, ...]:
    """SPECIALS, then what occurs most often; of equally many the first by the alphabet.

    A word that is written like a special token is none, and no token either: it is unknown.
    """
    room = None if vocab_size is None else vocab_size - len(SPECIALS)
    if room is not None and room < 1:
        raise ConfigError(
            f"vocab_size must be more than the {len(SPECIALS)} special tokens, got {vocab_size}"
        )
    often = [name for name, count in counts.items() if count >= min_count and name not in SPECIALS]
    often.sort(key=lambda name: (-counts[name], name))
    return (*SPECIALS, *often[:room])
