"""Words as tokens: hand-worked cases of both ways to split, and the contract."""

from collections.abc import Callable
from functools import partial
from typing import Any

from netwright.data.text.tokenizer import EOS, SPECIALS, UNK
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.testing.tokenizer_contract import TOKENIZER_CHECKS, Fit
from tests.repetition import for_each


@for_each("settings", [{}, {"split_at": "spaces"}, {"lower": True}], ids=str)
@for_each("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_tokenizer_contract(
    check: Callable[[Fit], None], settings: dict[str, Any]
) -> None:
    check(partial(WordTokenizer.fit, **settings))


def test_words_and_marks_are_told_apart() -> None:
    tokenizer = WordTokenizer.fit(["It's re-made, again; it\u2019s 3.5!"])
    text = tokenizer.decode(tokenizer.encode("It's re-made, again; it\u2019s 3.5!"))
    assert text == "It's re-made , again ; it\u2019s 3 . 5 !"


def test_words_that_are_split_already_stay_as_they_are() -> None:
    text = "the <unk> @-@ style n't ."
    tokenizer = WordTokenizer.fit([text], split_at="spaces")
    assert tokenizer.tokens[4:] == (".", "@-@", "n't", "style", "the")
    assert tokenizer.encode(text) == [8, UNK, 5, 7, 6, 4]
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_the_end_of_a_line_is_a_token_where_asked() -> None:
    tokenizer = WordTokenizer.fit(["a b\nc\n"], split_at="spaces", line_ends=True)
    tokens = tokenizer.encode("a b\n\nc\n")
    assert tokens == [4, 5, EOS, EOS, 6, EOS]
    assert tokenizer.decode(tokens) == "a b\n\nc\n"
    assert WordTokenizer.fit(["a b\nc"]).encode("a\nc") == [4, 6]


def test_a_vocabulary_alone_is_one_of_words_and_marks() -> None:
    # As tokenizers were kept before there were ways to split.
    kept = {"kind": "word", "tokens": [*SPECIALS, ",", "a", "b"], "lower": False}
    assert WordTokenizer.from_json(kept) == WordTokenizer.fit(["a, b"])


def test_rare_words_are_unknown() -> None:
    tokenizer = WordTokenizer.fit(["a a a b b c"], min_count=2)
    assert tokenizer.tokens == (*SPECIALS, "a", "b")
    assert tokenizer.encode("c a") == [UNK, 4]
    assert WordTokenizer.fit(["a a a b b c"], vocab_size=5).tokens == (*SPECIALS, "a")


def test_given_words_are_not_split_again() -> None:
    sentences = [["New York", "is", "n't"], ["It", "is"]]
    tokenizer = WordTokenizer.fit_words(sentences, lower=True)
    assert tokenizer.tokens[4:] == ("is", "it", "n't", "new york")
    assert tokenizer.encode_words(["New York", "IS", "big"]) == [7, 4, UNK]
    assert WordTokenizer.fit_words(sentences, min_count=2).tokens[4:] == ("is",)
    assert WordTokenizer.fit_words(sentences).tokens[4:] == ("is", "It", "New York", "n't")
