"""Topics: two that were planted are found by each method, by their words and in their texts."""

from typing import Any, get_args

import numpy as np
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.cooccurrence import Words
from netwright.data.words.term_documents import count_terms
from netwright.data.words.topics import Method, find_topics
from tests.repetition import for_each

SEA = ("boat", "fish", "harbour", "sail", "tide", "wave")
BREAD = ("dough", "flour", "oven", "salt", "water", "yeast")
WORDS = (*SEA, *BREAD, "the")


def planted() -> list[Words]:
    """Texts of the two topics by turns; "the" is in all of them."""
    rng = np.random.default_rng(0)
    return [np.append(rng.integers(6, size=12) + 6 * (place % 2), [12, 12]) for place in range(40)]


@pytest.mark.covers("topic-model")
@for_each("method", get_args(Method))
def test_the_words_of_two_planted_topics_are_told_apart(method: Method) -> None:
    topics = find_topics(count_terms(planted(), 13), WORDS, topics=2, method=method)
    found = {frozenset(words) for words in topics.top_words(5)}
    assert len(found) == 2
    for words in found:
        assert words <= {*SEA, "the"} or words <= {*BREAD, "the"}
    stronger = np.abs(topics.of_texts).argmax(axis=1)
    assert (stronger[::2] == stronger[0]).all() and (stronger[1::2] == stronger[1]).all()
    assert stronger[0] != stronger[1]


def test_top_words_come_by_their_weight() -> None:
    topics = find_topics(count_terms(planted(), 13), WORDS, topics=2)
    place = [WORDS.index(word) for word in topics.top_words(13)[0]]
    assert (np.diff(topics.of_words[0][place]) <= 0).all()
    assert len(place) == 13


def test_too_many_topics_and_names_that_do_not_fit_are_refused() -> None:
    counts = count_terms(planted(), 13)
    with pytest.raises(ConfigError, match="fewer than the 40 texts and the 13 words, got 13"):
        find_topics(counts, WORDS, topics=13)
    with pytest.raises(ConfigError, match="must name 13 columns, got 6"):
        find_topics(counts, SEA, topics=2)


def test_an_unknown_method_is_refused() -> None:
    unknown: Any = "pca"
    with pytest.raises(ConfigError, match=r"^method must be lsa, nmf or lda, got 'pca'$"):
        find_topics(count_terms(planted(), 13), WORDS, topics=2, method=unknown)


@for_each("method", ("lsa", "nmf"))
def test_texts_of_the_same_words_have_no_topics(method: Method) -> None:
    alike: list[Words] = [np.array([0, 1, 2])] * 5
    with pytest.raises(DataError, match=r"^every word is in all texts or in none"):
        find_topics(count_terms(alike, 3), WORDS[:3], topics=2, method=method)
