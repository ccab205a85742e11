"""Bags of words: order is lost, and a word that all texts have weighs nothing."""

import math

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from netwright.data.text.bag_of_words import count_tokens, inverse_document_frequency
from netwright.data.text.word_tokenizer import WordTokenizer

TEXTS = ["the cat sat on the mat", "the dog sat", "the the cat"]


@pytest.mark.covers("bag-of-words")
def test_the_order_of_words_is_lost() -> None:
    tokens = [4, 5, 5, 7, 6, 5]
    turned = [tokens[place] for place in torch.randperm(6).tolist()]
    counts = count_tokens([tokens, turned, []], 8)
    assert counts[0].tolist() == [0, 0, 0, 0, 1, 3, 1, 1]
    assert torch.equal(counts[0], counts[1])
    assert counts[2].sum() == 0


@pytest.mark.covers("tf-idf")
def test_a_word_in_every_text_weighs_nothing_and_twice_in_one_of_three_is_two_ln_three() -> None:
    counts = torch.tensor([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    weights = inverse_document_frequency(counts)
    weighted = counts * weights
    assert weighted[:, 0].tolist() == [0, 0, 0]
    assert float(weighted[0, 1]) == pytest.approx(2 * math.log(3)) == pytest.approx(2.197, abs=1e-3)
    assert float(weights[2]) == 0  # no text has it


def test_counts_and_weights_are_those_of_scikit_learn() -> None:
    tokenizer = WordTokenizer.fit(TEXTS)
    words = tokenizer.tokens[4:]
    counts = count_tokens(tokenizer.encode_all(TEXTS), tokenizer.size)[:, 4:]
    reference = CountVectorizer(vocabulary=words).fit_transform(TEXTS).toarray()
    np.testing.assert_array_equal(counts.numpy(), reference)
    theirs = TfidfVectorizer(vocabulary=words, smooth_idf=False, norm=None).fit(TEXTS)
    ours = inverse_document_frequency(counts) + 1  # theirs adds one
    np.testing.assert_allclose(ours.numpy(), theirs.idf_, rtol=1e-6)
