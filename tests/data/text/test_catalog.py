"""The table of tokenizers: every row has its name, a card, and comes back from JSON."""

import json

import pytest

from netwright.core.errors import UnknownNameError
from netwright.data.text.catalog import TOKENIZERS, load_tokenizer
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
