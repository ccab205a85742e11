"""Characters as tokens: a hand-worked case, and the contract."""

from collections.abc import Callable

import pytest

from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.tokenizer import SPECIALS, UNK
from netwright.testing.tokenizer_contract import TOKENIZER_CHECKS, Fit
from tests.repetition import for_each


@for_each("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_tokenizer_contract(check: Callable[[Fit], None]) -> None:
    check(CharTokenizer.fit)


@pytest.mark.covers("tokenization")
def test_characters_are_numbered_by_the_alphabet() -> None:
    tokenizer = CharTokenizer.fit(["hello", "hill"])
    assert tokenizer.tokens == (*SPECIALS, *"ehilo")
    tokens = tokenizer.encode("hole")
    assert tokens == [5, 8, 7, 4]
    assert tokenizer.decode(tokens) == "hole"


def test_a_limit_keeps_the_commonest_characters() -> None:
    tokenizer = CharTokenizer.fit(["aaabbc"], vocab_size=6)
    assert tokenizer.tokens == (*SPECIALS, "a", "b")
    assert tokenizer.encode("cab") == [UNK, 4, 5]
    assert tokenizer.decode([UNK, 4]) == "<unk>a"
    assert CharTokenizer.fit(["aaabbc"], min_count=3).tokens == (*SPECIALS, "a")


def test_capitals_become_small_where_asked_and_then_something_is_lost() -> None:
    tokenizer = CharTokenizer.fit(["AbA"], lower=True)
    assert tokenizer.decode(tokenizer.encode("Ba")) == "ba"
    assert not tokenizer.is_lossless
