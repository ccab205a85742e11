"""The truncated decomposition: the error is what is left out, LSA groups texts, refusals."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.cooccurrence import Words
from netwright.data.words.latent_space import Floats, factor_matrix
from netwright.data.words.term_documents import count_terms, weigh_terms


def cosines(vectors: Floats) -> Floats:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    product: Floats = units @ units.T
    return product


@pytest.mark.covers("dimensionality-reduction-words")
def test_the_error_of_rank_k_is_what_the_other_singular_values_hold() -> None:
    dense = np.random.default_rng(0).poisson(0.5, (30, 20)).astype(float)
    space = factor_matrix(csr_array(dense), 6)
    every = np.linalg.svd(dense, compute_uv=False)
    np.testing.assert_allclose(space.strengths, every[:6], rtol=1e-8)
    near = space.row_vectors @ space.columns.T
    assert np.linalg.norm(dense - near) ** 2 == pytest.approx((every[6:] ** 2).sum(), rel=1e-8)
    np.testing.assert_allclose(space.rows.T @ space.rows, np.eye(6), atol=1e-8)
    np.testing.assert_allclose(dense.T @ space.rows, space.column_vectors, atol=1e-8)


def test_vectors_of_words_and_of_texts_are_those_of_a_dense_decomposition() -> None:
    rng = np.random.default_rng(2)
    weights = weigh_terms(count_terms([rng.integers(0, 25, size=30) for _ in range(40)], 25))
    space = factor_matrix(weights, 5)
    rows, strengths, columns = np.linalg.svd(weights.toarray(), full_matrices=False)
    signs = np.sign((rows[:, :5] * space.rows).sum(axis=0))  # which of two, a decomposition chooses
    texts, words = rows[:, :5] * strengths[:5] * signs, columns[:5].T * strengths[:5] * signs
    np.testing.assert_allclose(space.row_vectors, texts, atol=1e-8)
    np.testing.assert_allclose(space.column_vectors, words, atol=1e-8)


@pytest.mark.covers("dimensionality-reduction-words")
def test_words_of_like_rows_stay_close() -> None:
    rng = np.random.default_rng(0)
    dense = rng.poisson(2.0, (12, 40)).astype(float)
    dense[1] = dense[0] + rng.poisson(0.05, 40)
    vectors = factor_matrix(csr_array(dense), 4).row_vectors
    assert cosines(vectors)[0, 1] > 0.99


def test_the_sign_is_settled_and_the_seed_does_not_matter() -> None:
    dense = csr_array(np.random.default_rng(1).poisson(1.0, (20, 15)).astype(float))
    first, second = (factor_matrix(dense, 3, seed=seed) for seed in (0, 1))
    np.testing.assert_allclose(first.rows, second.rows, atol=1e-8)
    largest = np.abs(first.columns).argmax(axis=0)
    assert (first.columns[largest, range(3)] > 0).all()


@pytest.mark.covers("lsa")
def test_texts_of_two_topics_fall_into_two_groups() -> None:
    rng = np.random.default_rng(0)
    texts: list[Words] = [rng.integers(10, size=40) + 10 * (place % 2) for place in range(30)]
    vectors = factor_matrix(weigh_terms(count_terms(texts, 20)), 2).row_vectors
    found = cosines(vectors)
    same = np.equal.outer(np.arange(30) % 2, np.arange(30) % 2)
    assert found[same].min() > 0.9
    assert np.abs(found[~same]).max() < 0.2


def test_more_dimensions_than_there_are_is_refused() -> None:
    with pytest.raises(ConfigError, match="at most 3 for a matrix of 4 rows and 9 columns, got 4"):
        factor_matrix(csr_array(np.ones((4, 9))), 4)
    with pytest.raises(ConfigError, match="dimensions"):
        factor_matrix(csr_array(np.ones((4, 9))), 0)


def test_a_matrix_without_directions_is_refused() -> None:
    with pytest.raises(DataError, match="an entry that is not 0"):
        factor_matrix(csr_array((4, 9)), 2)
    with pytest.raises(DataError, match="finite numbers, got NaN or infinity"):
        factor_matrix(csr_array(np.full((4, 9), np.nan)), 2)
