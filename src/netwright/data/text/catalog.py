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


def load_tokenizer(values: dict[str, Any]) -> Tokenizer:
    """The tokenizer that `to_json` gave."""
    return TOKENIZERS.load(values["kind"]).from_json(values)
