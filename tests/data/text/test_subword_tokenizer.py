"""Parts of words: hand-worked merges and cuts, the contract, and the package that may be absent."""

import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.subword_tokenizer import BytePairTokenizer, WordPieceTokenizer
from netwright.data.text.tokenizer import SPECIALS, UNK
from netwright.testing.tokenizer_contract import TOKENIZER_CHECKS, Fit
from tests.repetition import for_each


@for_each(
    "fit",
    [
        partial(BytePairTokenizer.fit, vocab_size=290),
        WordPieceTokenizer.fit,
        partial(WordPieceTokenizer.fit, lower=True),
    ],
    ids=["bpe", "wordpiece", "wordpiece-lower"],
)
@for_each("check", TOKENIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_tokenizer_contract(check: Callable[[Fit], None], fit: Fit) -> None:
    check(fit)


def test_byte_pairs_join_the_commonest_neighbours_first() -> None:
    # a b occurs 5 times, ab c 3 times, and then no pair more than once.
    tokenizer = BytePairTokenizer.fit(["abc", "abc", "abc", "abd", "abe"], min_count=2)
    assert tokenizer.merges == ("a b", "ab c")
    assert tokenizer.size == 4 + 256 + 2
    assert [tokenizer.tokens[token] for token in tokenizer.encode("abcabd")] == ["abc", "ab", "d"]


def test_byte_pairs_write_every_text() -> None:
    tokenizer = BytePairTokenizer.fit(["only plain letters"], vocab_size=260)
    text = " 犬\n\tß \u0000 😺  "
    tokens = tokenizer.encode(text)
    assert UNK not in tokens and tokenizer.decode(tokens) == text
    assert len(tokens) == len(text.encode())
    assert BytePairTokenizer.fit(["Ab"], lower=True).decode(tokens) != text.upper()


@pytest.mark.covers("wordpiece")
def test_a_word_is_cut_into_the_longest_known_parts() -> None:
    pieces = ("un", "##aff", "##able", "##a", "able", "a")
    tokenizer = WordPieceTokenizer(tokens=(*SPECIALS, *pieces))
    tokens = tokenizer.encode("unaffable able a")
    assert [tokenizer.tokens[token] for token in tokens] == ["un", "##aff", "##able", "able", "a"]
    assert tokenizer.decode(tokens) == "unaffable able a"
    assert tokenizer.encode("unknown") == [UNK]


@pytest.mark.parametrize("kind", [BytePairTokenizer, WordPieceTokenizer])
def test_capitals_become_small_where_asked(
    kind: type[BytePairTokenizer] | type[WordPieceTokenizer],
) -> None:
    tokenizer = kind.fit(["Rome rome"], lower=True)
    assert tokenizer.encode("ROME") == tokenizer.encode("rome")
    assert not tokenizer.is_lossless


def test_byte_pairs_need_room_for_all_bytes() -> None:
    sentence = "vocab_size of bpe must be at least 260, all bytes and the special tokens, got 100"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        BytePairTokenizer.fit(["text"], vocab_size=100)


@pytest.mark.parametrize(
    ("kind", "name"), [(BytePairTokenizer, "byte-pair"), (WordPieceTokenizer, "WordPiece")]
)
def test_without_the_package_the_refusal_says_how_to_get_it(
    kind: type[BytePairTokenizer], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    sentence = f"{name} tokens need the package tokenizers: pip install 'netwright[text]'"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        kind.fit(["text"])
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        kind(tokens=(*SPECIALS, "a")).encode("a")


def test_marks_stay_apart_as_they_were_told_apart() -> None:
    tokenizer = WordPieceTokenizer.fit(["do n't stop . go , on !"])
    assert tokenizer.decode(tokenizer.encode("go , on ! stop .")) == "go , on ! stop ."
    going_on = {token for token in tokenizer.tokens if token.startswith("##")}
    assert going_on >= {"##o", "##t"}
    assert going_on.isdisjoint({"##'", "##.", "##,", "##!", "## "})  # no mark goes on a word


@for_each("merge", ["a", "a zz", "zz a", "a b c", "", " ", 7, None, ["a", "b"]])
def test_a_pair_that_is_none_of_the_vocabulary_is_refused(merge: Any) -> None:
    tokens = (*SPECIALS, "a", "b", "ab")
    BytePairTokenizer(tokens=tokens, merges=("a b",))
    sentence = "^a merge of bpe must be two tokens that form a third one, got "
    with pytest.raises(DataError, match=sentence):
        BytePairTokenizer(tokens=tokens, merges=("a b", merge))


def test_tokens_are_texts() -> None:
    with pytest.raises(DataError, match=r"^tokens must be texts$"):
        BytePairTokenizer(tokens=(*SPECIALS, 7))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [BytePairTokenizer, WordPieceTokenizer])
def test_no_token_is_learned_of_a_word_that_does_not_end(
    kind: type[BytePairTokenizer | WordPieceTokenizer],
) -> None:
    word = "ab" * 4_000
    tokenizer = kind.fit([f"a word, {word}."])
    assert max(map(len, tokenizer.tokens)) <= 1_000 + len("##")
    if tokenizer.is_lossless:
        assert tokenizer.decode(tokenizer.encode(word)) == word


def test_a_byte_pair_is_read_as_text() -> None:
    pairs = BytePairTokenizer.fit(["ein Kleid, ein Äpfel"] * 9, vocab_size=300)
    tokens = pairs.encode("ein Kleid Äpfel")
    assert "".join(map(pairs.text_of, tokens)) == "ein Kleid Äpfel"
    assert any("Ġ" in pairs.tokens[token] for token in tokens)
    assert [pairs.text_of(token) for token in range(4)] == list(pairs.tokens[:4])
