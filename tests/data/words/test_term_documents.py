"""Terms of documents: tf-idf by hand and by scikit-learn, and refusals."""

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

from netwright.core.errors import DataError
from netwright.data.words.cooccurrence import Words
from netwright.data.words.term_documents import (
    count_terms,
    inverse_document_frequencies,
    weigh_terms,
)

TEXTS: list[Words] = [np.array([0, 1, 1, -1]), np.array([0, 0]), np.array([0, 2])]


@pytest.mark.covers("tf-idf")
def test_a_word_of_every_text_weighs_nothing_and_twice_in_one_of_three_is_two_ln_three() -> None:
    counts = count_terms(TEXTS, 4)
    assert counts.toarray().tolist() == [[1, 2, 0, 0], [2, 0, 0, 0], [1, 0, 1, 0]]
    weights = weigh_terms(counts)
    wanted = np.array([[0.0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]) * math.log(3)
    np.testing.assert_allclose(weights.toarray(), wanted, rtol=1e-12)
    assert weights.nnz == 2  # zeros are not held
    assert inverse_document_frequencies(counts)[3] == 0  # no text has it


def test_weights_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    texts: list[Words] = [rng.integers(0, 50, rng.integers(1, 60)) for _ in range(30)]
    counts = count_terms(iter(texts), 50)
    theirs = TfidfTransformer(norm=None, smooth_idf=False).fit_transform(counts)
    ours = weigh_terms(counts) + counts  # theirs adds 1 to the logarithm
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-8)


def test_no_texts_and_unknown_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="no texts"):
        count_terms([], 3)
    with pytest.raises(DataError, match="word 7 is out of range: there are 3 words"):
        count_terms([np.array([7])], 3)
