"""The table of tokenizers: every row has its name, a card, and comes back from JSON."""

import json

import pytest

from netwright.core.errors import DataError, UnknownNameError
from netwright.data.text.catalog import TOKENIZERS, fit_tokenizer, load_tokenizer
from netwright.data.text.corpus import CorpusConfig
from tests.repetition import for_each


@for_each("name", TOKENIZERS)
def test_every_row_explains_itself_and_comes_back_from_json(name: str) -> None:
    kind = TOKENIZERS.load(name)
    assert kind.kind == name
    assert kind.card.sentence.endswith(".") and kind.card.formula and kind.card.source
    tokenizer = kind.fit(["a small text"])
    assert load_tokenizer(json.loads(json.dumps(tokenizer.to_json()))) == tokenizer


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown tokenizer 'chars'; did you mean 'char'"):
        load_tokenizer({"kind": "chars"})


def test_the_names_are_these() -> None:
    assert list(TOKENIZERS) == ["char", "word", "bpe", "wordpiece"]


def test_a_vocabulary_without_any_token_is_refused() -> None:
    """A model of it would tell one unknown token from none, and be right each time."""
    config = CorpusConfig(tokenizer="char", min_count=9)
    with pytest.raises(DataError, match=r"^no token of notes occurs min_count=9 times$"):
        fit_tokenizer(["a text"], config, "notes")
    assert fit_tokenizer(["a" * 9], config, "notes").tokens[-1] == "a"
