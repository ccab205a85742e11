"""Sentinels in a text: read and written by their names, whatever the tokenizer around them."""

from collections.abc import Callable, Sequence

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.catalog import load_tokenizer
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer
from netwright.data.text.tokenizer import EOS, PAD, Tokenizer
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.testing.tokenizer_contract import TEXTS, TOKENIZER_CHECKS, Fit
from tests.repetition import for_each

WORDS = SentinelTokenizer.around(WordTokenizer.fit(["to be or not"]), 2)


def around(kind: type[Tokenizer]) -> Fit:
    def fit(texts: Sequence[str]) -> Tokenizer:
        return SentinelTokenizer.around(kind.fit(texts), 3)

    return fit


@for_each("kind", [CharTokenizer, WordTokenizer])
@for_each("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_tokenizer_contract(check: Callable[[Fit], None], kind: type[Tokenizer]) -> None:
    check(around(kind))


def test_a_sentinel_is_written_by_its_name_and_stands_behind_the_vocabulary() -> None:
    assert WORDS.tokens[8:] == ("<extra_id_0>", "<extra_id_1>")
    tokens = WORDS.encode("to<extra_id_1>be <extra_id_0>")
    assert tokens == [*WORDS.plain.encode("to"), 9, *WORDS.plain.encode("be"), 8]
    assert WORDS.decode([*tokens, EOS, PAD]) == "to <extra_id_1> be <extra_id_0>"
    letters = around(CharTokenizer)(TEXTS)
    text = "The <extra_id_0><extra_id_1>sat on<extra_id_2>"
    assert letters.decode(letters.encode(text)) == text


def test_names_of_other_sentinels_are_text() -> None:
    for name in ("<extra_id_2>", "<extra_id_00>", "<extra_id_" + "9" * 5000 + ">", "<extra_id_>"):
        assert WORDS.encode(name) == WORDS.plain.encode(name)


def test_it_comes_back_from_json_and_what_none_has_written_is_refused() -> None:
    assert load_tokenizer(WORDS.to_json()) == WORDS
    for count in (0, -1, 10**9, 2.0, "2", True):
        with pytest.raises(DataError, match=r"^there must be 1 to 1,000 sentinels, got "):
            load_tokenizer({**WORDS.to_json(), "sentinels": count})
    with pytest.raises(DataError, match="tokens must differ, '<extra_id_0>' appears twice"):
        SentinelTokenizer.around(WORDS, 1)
    with pytest.raises(ConfigError, match="added to a tokenizer that was fitted"):
        SentinelTokenizer.fit(["to be"])
