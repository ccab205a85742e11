"""Words by their vectors: neighbours and analogies by hand, and refusals."""

import re

import numpy as np
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.word_vectors import WordVectors

WORDS = WordVectors(
    words=("man", "king", "woman", "queen", "apple"),
    vectors=np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [0, -1, -1]], dtype=np.float32),
)


@pytest.mark.covers("cosine-similarity")
def test_similar_words_come_by_their_cosine_whatever_their_length() -> None:
    (word, cosine), _ = WORDS.similar("man", 2)
    assert (word, round(cosine, 4)) == ("king", 0.7071)
    longer = WordVectors(words=WORDS.words, vectors=WORDS.vectors * np.float32(7))
    assert [word for word, _ in longer.similar("man")] == [word for word, _ in WORDS.similar("man")]
    assert len(WORDS.similar("man")) == 4  # all but itself


def test_an_analogy_and_the_odd_one_out() -> None:
    assert WORDS.analogy("king", "man", "woman")[0][0] == "queen"
    assert not {"man", "king", "woman"} & {
        word for word, _ in WORDS.analogy("king", "man", "woman")
    }
    assert WORDS.odd_one_out(["king", "apple", "queen"]) == "apple"
    assert WORDS.row("KING") == 1


def test_unknown_words_and_bad_vectors_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'quen' is not in the vocabulary.*'queen'"):
        WORDS.similar("quen")
    for word, offered in (("quen", "; did you mean 'queen'?"), ("xylophone", "vocabulary")):
        with pytest.raises(ConfigError, match=rf"{re.escape(offered)}$"):
            WORDS.row(word)
    alike = WordVectors(words=("cart", "cars", "card", "care"), vectors=np.eye(4, dtype=np.float32))
    with pytest.raises(ConfigError, match=r"did you mean '\w+', '\w+' or '\w+'\?$"):
        alike.row("carx")
    with pytest.raises(ConfigError, match="at least 3 words, got 2"):
        WORDS.odd_one_out(["king", "queen"])
    for words, vectors, said in (
        (("a",), np.zeros((2, 3)), "1 words need as many vectors"),
        (("b", "a", "a"), np.zeros((3, 3)), "the word 'a' has two vectors"),
        (("b", "a"), np.array([[1, 2], [np.nan, 0]]), "the vector of 'a' must be finite, got NaN"),
    ):
        with pytest.raises(DataError, match=said):
            WordVectors(words=words, vectors=vectors.astype(np.float32))
