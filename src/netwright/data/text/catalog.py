"""The tables of tokenizers and of encoders of text, and the way back from JSON."""

from collections.abc import Sequence
from typing import Any, Protocol

from netwright.core.catalog import Catalog
from netwright.core.errors import DataError
from netwright.data.text.tokenizer import SPECIALS, Tokenizer

TOKENIZERS: Catalog[type[Tokenizer]] = Catalog(
    "tokenizer",
    {
        "char": "netwright.data.text.char_tokenizer:CharTokenizer",
        "word": "netwright.data.text.word_tokenizer:WordTokenizer",
        "bpe": "netwright.data.text.subword_tokenizer:BytePairTokenizer",
        "wordpiece": "netwright.data.text.subword_tokenizer:WordPieceTokenizer",
    },
)

AROUND_OTHERS: Catalog[type[Tokenizer]] = Catalog(  # not fitted, but made of one that was
    "tokenizer",
    {"sentinels": "netwright.data.text.pretraining.sentinel_tokenizer:SentinelTokenizer"},
)


class Tokens(Protocol):
    """What the settings of a text say of its tokens."""

    @property
    def tokenizer(self) -> str:
        """Its name in the table."""

    @property
    def vocab_size(self) -> int | None:
        """The most tokens, special ones included; None: as many as usual."""

    @property
    def min_count(self) -> int:
        """How often a token occurs at least."""

    @property
    def lower(self) -> bool:
        """Whether text is converted to lower case."""


def fit_tokenizer(texts: Sequence[str], config: Tokens, where: str) -> Tokenizer:
    """The tokenizer of training texts; a vocabulary without any token is refused.

    Args:
        texts: to learn the tokens from.
        config: what they are.
        where: the texts are from, for the sentence that refuses them.
    """
    tokenizer = TOKENIZERS.load(config.tokenizer).fit(
        texts, vocab_size=config.vocab_size, min_count=config.min_count, lower=config.lower
    )
    if tokenizer.size == len(SPECIALS):
        raise DataError(f"no token of {where} occurs min_count={config.min_count} times")
    return tokenizer


def load_tokenizer(values: dict[str, Any]) -> Tokenizer:
    """The tokenizer that `to_json` gave."""
    kind = values["kind"]
    table = AROUND_OTHERS if kind in AROUND_OTHERS else TOKENIZERS
    return table.load(kind).from_json(values)
