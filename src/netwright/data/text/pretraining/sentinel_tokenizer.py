"""A tokenizer with sentinels: tokens behind its vocabulary, each for a span that is left out.

    To be <extra_id_0> not to be         in a text a sentinel is written by its name

Source: Raffel et al. (2019), arXiv 1910.10683; the names are those of the published vocabulary.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.tokenizer import Tokenizer

NAME = "<extra_id_{}>"
WRITTEN = re.compile(r"<extra_id_\d+>")
MOST = 1_000  # more than the spans of any text that fits a model


@dataclass(frozen=True, kw_only=True)
class SentinelTokenizer(Tokenizer):
    """Reads and writes as the tokenizer in it does, and the names of sentinels.

    Args:
        plain: text <-> tokens; its vocabulary comes first.
        sentinels: how many there are.
    """

    kind: ClassVar[str] = "sentinels"

    plain: Tokenizer
    sentinels: int

    @classmethod
    def around(cls, plain: Tokenizer, sentinels: int) -> "SentinelTokenizer":
        """A tokenizer with so many sentinels more."""
        if type(sentinels) is not int or not 0 < sentinels <= MOST:
            raise DataError(f"there must be 1 to {MOST:,} sentinels, got {sentinels!r:.40}")
        names = (NAME.format(number) for number in range(sentinels))
        return cls(
            tokens=(*plain.tokens, *names), lower=plain.lower, plain=plain, sentinels=sentinels
        )

    @property
    def is_lossless(self) -> bool:
        """As the tokenizer in it."""
        return self.plain.is_lossless

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        vocab_size: int | None = None,
        min_count: int = 1,
        lower: bool = False,
    ) -> "SentinelTokenizer":
        """Nothing is learned here: sentinels are added to a tokenizer that is."""
        raise ConfigError("sentinels are added to a tokenizer that was fitted")

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; the name of a sentinel that there is becomes it."""
        tokens: list[int] = []
        begin = 0
        for found in WRITTEN.finditer(text):
            sentinel = self.places.get(found[0], 0)
            if sentinel >= self.plain.size:
                tokens += [*self.plain.encode(text[begin : found.start()]), sentinel]
                begin = found.end()
        return [*tokens, *self.plain.encode(text[begin:])]

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of tokens, and the names of sentinels, apart where blanks are lost."""
        pieces: list[str] = []
        for is_sentinel, group in groupby(tokens, lambda token: token >= self.plain.size):
            row = list(group)
            pieces += [self.tokens[one] for one in row] if is_sentinel else [self.plain.decode(row)]
        return "".join(pieces) if self.is_lossless else " ".join(pieces).strip()

    def to_json(self) -> dict[str, Any]:
        """The tokenizer in it, and how many sentinels there are."""
        return {"kind": self.kind, "plain": self.plain.to_json(), "sentinels": self.sentinels}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "SentinelTokenizer":
        """The tokenizer that `to_json` gave."""
        return cls.around(load_tokenizer(values["plain"]), values["sentinels"])
