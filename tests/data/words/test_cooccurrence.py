"""Counts of words that stand near each other: by hand, by brute force, in parts, and refusals."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.words import cooccurrence
from netwright.data.words.cooccurrence import Words, count_cooccurrences


def brute_force(texts: Sequence[Words], size: int, window: int) -> Words:
    counts = np.zeros((size, size), dtype=np.int64)
    for text in texts:
        for place, word in enumerate(text):
            near = range(max(0, place - window), min(len(text), place + window + 1))
            for other in near:
                if other != place and word >= 0 and text[other] >= 0:
                    counts[word, text[other]] += 1
    return counts


@pytest.mark.covers("cooccurrence-matrix")
def test_a_sentence_of_ten_words_counted_by_hand() -> None:
    sentence = "the cat saw the dog and the dog saw it".split()
    words = sorted(set(sentence))  # and cat dog it saw the
    text = np.array([words.index(word) for word in sentence])
    counts = count_cooccurrences([text], len(words), 1).toarray()
    by_hand = Counter(
        {
            ("cat", "the"): 1,
            ("cat", "saw"): 1,
            ("saw", "the"): 1,
            ("dog", "the"): 2,
            ("and", "dog"): 1,
            ("and", "the"): 1,
            ("dog", "saw"): 1,
            ("it", "saw"): 1,
        }
    )
    for (first, second), count in by_hand.items():
        assert counts[words.index(first), words.index(second)] == count
    assert (counts == counts.T).all()
    assert counts.sum() == 2 * by_hand.total() == 2 * (len(sentence) - 1)


def test_counts_are_those_of_brute_force_in_parts_of_any_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    texts = [rng.integers(-1, 7, length) for length in (40, 1, 0, 9, 90, 3)]
    for window in (1, 2, 5):
        wanted = brute_force(texts, 7, window)
        for together in (3, 64, 2**20):
            monkeypatch.setattr(cooccurrence, "TOGETHER", together)
            found = count_cooccurrences(iter(texts), 7, window).toarray()
            np.testing.assert_array_equal(found, wanted, err_msg=f"{window}, {together}")


def test_no_pair_reaches_from_one_text_into_the_next() -> None:
    apart = count_cooccurrences([np.array([0]), np.array([1])], 2, 5)
    assert apart.nnz == 0


def test_a_window_larger_than_the_text_counts_all_pairs() -> None:
    counts = count_cooccurrences([np.array([0, 1, 2])], 3, 100).toarray()
    np.testing.assert_array_equal(counts, 1 - np.eye(3))


@pytest.mark.covers("distributional-semantics")
def test_interchangeable_words_have_like_counts_and_unrelated_ones_have_not() -> None:
    rng = np.random.default_rng(0)
    drink, drink_too, stone = 0, 1, 2
    around = np.array([[3, 4, 5], [6, 7, 8]])  # words of drinks, words of stones
    texts: list[Words] = []
    for _ in range(400):
        word = int(rng.integers(3))
        company = around[int(word == stone)]
        texts.append(np.array([rng.choice(company), word, rng.choice(company)]))
    counts = count_cooccurrences(texts, 9, 1).toarray()
    units = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    assert units[drink] @ units[drink_too] > 0.95
    assert units[drink] @ units[stone] < 0.3


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(DataError, match="word 3 is out of range: there are 3 words"):
        count_cooccurrences([np.array([0, 3])], 3, 1)
    with pytest.raises(ConfigError, match="window"):
        count_cooccurrences([np.array([0])], 3, 0)
    assert count_cooccurrences([], 3, 1).nnz == 0
