"""The compiled version: one block by hand, noise and ends of texts, and the plain one's vectors."""

import numpy as np
import pytest

from netwright.models.words.word_noise import alias_table, keep_chances, noise_chances

pytest.importorskip("numba", reason="numba is an extra")

from netwright.models.words.word2vec_kernels import learn_part

LR = np.float32(0.05)


def learn(  # type: ignore[no-untyped-def]
    words: list[int],
    size: int,
    window: int = 2,
    negatives: int = 2,
    seed: int = 5,
    *,
    is_bag: bool = False,
):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((size, 6)).astype(np.float32)
    contexts = rng.standard_normal((size, 6)).astype(np.float32)
    before = vectors.copy(), contexts.copy()
    counts = np.bincount(words, minlength=size)
    counts[:4] = 0
    table = alias_table(noise_chances(counts))
    told = learn_part(
        np.array(words, dtype=np.int32),
        vectors,
        contexts,
        keep_chances(counts, 0),
        *table,
        window,
        negatives,
        LR,
        seed,
        is_bag,
    )
    return told, (vectors, contexts), before


def test_two_words_alone_by_hand() -> None:
    (loss, pairs), (vectors, _), (v, u) = learn([4, 5], 6, window=1)
    assert pairs == 2
    move = vectors - v
    assert (move[:4] == 0).all()  # what is no word does not move
    # Word 4 is a context of 5 alone: its vector moves along u_5, and along noise of 4 and 5.
    slopes = np.linalg.lstsq(u[4:].T, move[4], rcond=None)
    np.testing.assert_allclose(u[4:].T @ slopes[0], move[4], atol=1e-6)
    assert loss > 0


def test_no_pair_reaches_over_the_end_of_a_text() -> None:
    (_, pairs), (vectors, _), (v, _) = learn([4, 3, 5, 0, 6], 7, window=5)
    assert pairs == 0
    np.testing.assert_array_equal(vectors, v)


def test_one_seed_gives_the_same_bits_and_another_other_ones() -> None:
    text = list(np.random.default_rng(1).integers(4, 40, 500))
    first, again, other = (learn(text, 40, seed=seed)[1][0] for seed in (3, 3, 9))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_bag_is_a_mean_whose_words_move_alike() -> None:
    (loss, pairs), (vectors, contexts), (v, u) = learn([4, 5, 6], 7, window=1, is_bag=True)
    assert pairs == 3  # predictions, not pairs of words
    assert loss > 0
    # Words 4 and 6 predict 5 together, and are each predicted from 5 alone.
    move = vectors - v
    np.testing.assert_allclose(move[4], move[6], rtol=1e-4, atol=1e-7)
    slopes = np.linalg.lstsq(u[4:].T, move[4], rcond=None)
    np.testing.assert_allclose(u[4:].T @ slopes[0], move[4], atol=1e-6)
    # The context vector of 5 moves along the mean of 4 and 6, or, as noise, also along 5.
    along = np.stack([(v[4] + v[6]) / 2, v[5]])
    shares = np.linalg.lstsq(along.T, contexts[5] - u[5], rcond=None)[0]
    np.testing.assert_allclose(along.T @ shares, contexts[5] - u[5], atol=1e-6)


def test_no_bag_reaches_over_the_end_of_a_text() -> None:
    (_, predictions), (vectors, _), (v, _) = learn([4, 3, 5, 0, 6], 7, window=5, is_bag=True)
    assert predictions == 0
    np.testing.assert_array_equal(vectors, v)
