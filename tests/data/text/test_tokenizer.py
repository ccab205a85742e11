"""What all tokenizers share: the special tokens, and which tokens a vocabulary holds."""

import re
from collections import Counter

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.tokenizer import BOS, EOS, PAD, SPECIALS, UNK, most_common
from netwright.data.text.word_tokenizer import WordTokenizer

COUNTS = Counter({"b": 3, "a": 3, "c": 5, "d": 1})


def test_special_tokens_have_the_first_four_numbers() -> None:
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert SPECIALS == ("<pad>", "<unk>", "<bos>", "<eos>")


def test_the_commonest_come_first_and_equals_by_the_alphabet() -> None:
    assert most_common(COUNTS, None, 1) == (*SPECIALS, "c", "a", "b", "d")


def test_a_vocabulary_keeps_to_its_size_and_to_the_least_count() -> None:
    assert most_common(COUNTS, 6, 1) == (*SPECIALS, "c", "a")
    assert most_common(COUNTS, None, 3) == (*SPECIALS, "c", "a", "b")


def test_words_written_like_special_tokens_get_no_token() -> None:
    assert most_common(Counter({"<unk>": 9, "<pad>": 9, "a": 1}), None, 1) == (*SPECIALS, "a")


def test_a_size_without_room_for_a_word_is_refused() -> None:
    sentence = "vocab_size must be more than the 4 special tokens, got 4"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        most_common(COUNTS, 4, 1)


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (("a", "b"), "tokens must begin with <pad>, <unk>, <bos>, <eos>, got a, b"),
        ((*SPECIALS, "a", "a"), "tokens must differ, 'a' appears twice"),
    ],
)
def test_a_vocabulary_without_sense_is_refused(tokens: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        CharTokenizer(tokens=tokens)


@pytest.mark.covers("vocabulary-unk")
def test_known_words_have_their_row_and_unknown_ones_share_one() -> None:
    tokenizer = WordTokenizer.fit(["the cat and the dog"])
    table = torch.randn(tokenizer.size, 5)
    tokens = tokenizer.encode("cat zebra dog giraffe")
    assert tokens == [tokenizer.places["cat"], UNK, tokenizer.places["dog"], UNK]
    rows = nn.functional.embedding(torch.tensor(tokens), table)
    assert torch.equal(rows[0], table[tokenizer.places["cat"]])
    assert torch.equal(rows[1], rows[3]) and torch.equal(rows[1], table[UNK])
    # A zero vector instead: an embedding whose row for UNK is its padding.
    layer = nn.Embedding(tokenizer.size, 5, padding_idx=UNK)
    assert torch.equal(layer(torch.tensor(tokens))[1], torch.zeros(5))
    # Or left out: what is not unknown stays.
    assert tokenizer.decode(token for token in tokens if token != UNK) == "cat dog"


@pytest.mark.covers("one-hot-words")
def test_one_hot_words_are_all_equally_far_apart() -> None:
    tokenizer = WordTokenizer.fit(["cat dog table"])
    vectors = one_hot(torch.tensor(tokenizer.encode("cat dog table")), tokenizer.size).double()
    apart = ~torch.eye(3, dtype=torch.bool)
    distances = torch.cdist(vectors, vectors)[apart]
    torch.testing.assert_close(distances, torch.full((6,), 2.0).double().sqrt())
    assert torch.equal((vectors @ vectors.T)[apart], torch.zeros(6).double())
    table = torch.randn(tokenizer.size, 4).double()
    assert torch.equal(vectors @ table, table[tokenizer.encode("cat dog table")])


@pytest.mark.covers("embedding-layer")
def test_an_embedding_is_a_product_with_one_hots_and_only_used_rows_learn() -> None:
    tokenizer = WordTokenizer.fit(["a rose is a rose and a thorn"])
    tokens = torch.tensor(tokenizer.encode("a rose is a rose"))
    layer = nn.Embedding(tokenizer.size, 3)
    vectors = one_hot(tokens, tokenizer.size).float()
    torch.testing.assert_close(layer(tokens), vectors @ layer.weight)
    pull = torch.randn(5, 3)
    (layer(tokens) * pull).sum().backward()
    assert layer.weight.grad is not None
    torch.testing.assert_close(layer.weight.grad, vectors.T @ pull)  # repeats add up
    touched = layer.weight.grad.abs().sum(dim=1) > 0
    assert touched.nonzero().flatten().tolist() == sorted(set(tokens.tolist()))
