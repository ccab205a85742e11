"""The tables of tokenizers and of encoders of text, and the way back from JSON."""

from typing import Any

from netwright.core.catalog import Catalog
from netwright.data.text.tokenizer import Tokenizer

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


def load_tokenizer(values: dict[str, Any]) -> Tokenizer:
    """The tokenizer that `to_json` gave."""
    kind = values["kind"]
    table = AROUND_OTHERS if kind in AROUND_OTHERS else TOKENIZERS
    return table.load(kind).from_json(values)
