"""Words of a text column: which are kept, where they occur, and that they come back."""

import json

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.features.text_feature import TextFeature, words_of
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn


def table(*cells: str) -> RawTable:
    return RawTable(name="t", columns={"a": list(cells)}, positions=range(len(cells)))


def fitted(
    *cells: str, max_words: int = 200, weights: tuple[float, ...] | None = None
) -> TextFeature:
    given = None if weights is None else np.array(weights)
    column = TrainingColumn(table(*cells), "a", range(len(cells)), given)
    return TextFeature.fit(column, max_words)


def test_words_are_letters_and_digits_in_any_case() -> None:
    assert words_of("Don't STOP: 2 straße, stop!") == {"don't", "stop", "2", "strasse"}
    assert words_of("...") == set()


def test_a_column_says_whether_its_word_occurs_however_often() -> None:
    feature = fitted("good film", "bad film, BAD", "good")
    assert feature.feature_names() == ("a=film", "a=good")  # "bad" is in one row only
    encoded = feature.encode(table("Good good", "", "a bad film"))
    assert encoded.dtype == np.float32
    np.testing.assert_array_equal(encoded, [[0, 1], [0, 0], [1, 0]])
    assert feature.units() == [(0, 1), (0, 1)]
    assert feature.note(0) == "text, 3 different words, the 2 most common kept as columns"
    assert feature.note(4).endswith(", 4 missing (without words)")


def test_the_words_of_most_rows_are_kept_and_equals_go_by_name() -> None:
    cells = ("b a c", "b c", "b a", "d", "d")
    assert fitted(*cells, max_words=2).words == ("a", "b")  # a, c and d are in two rows each
    heavy = fitted(*cells, max_words=2, weights=(1, 1, 1, 5, 5))
    assert heavy.words == ("b", "d")
    twice = fitted("x y", "x y", "z", max_words=5)  # equal texts are as many rows
    assert twice.words == ("x", "y")


def test_texts_come_back_as_their_known_words() -> None:
    feature = fitted("good film", "good film")
    (good, none) = feature.encode(table("film of a good man", "other")).tolist()
    assert feature.decode(good) == "film good"
    assert feature.decode(none) == "no known word"


def test_rows_without_a_known_word_are_said_where_they_are_the_most() -> None:
    feature = fitted("good film", "good film")
    assert feature.remarks(table("bon", "buono", "good")) == [
        "a: 2 of 3 rows have none of the words of training"
    ]
    assert feature.remarks(table("bon", "good")) == []
    assert feature.remarks(table("", "", "good")) == []  # nothing was said, nothing is unknown


def test_a_text_without_a_word_in_two_rows_gives_no_column() -> None:
    feature = fitted("x", "y")
    assert feature.encode(table("x", "y")).shape == (2, 0)
    assert feature.note(0) == "text, 2 different words, none kept as columns"


def test_it_is_kept_as_json_and_a_word_twice_is_refused() -> None:
    feature = fitted("good film", "good film")
    assert TextFeature.from_json(json.loads(json.dumps(feature.to_json()))) == feature
    with pytest.raises(DataError, match=r"words of 'a' are not all different"):
        TextFeature(name="a", words=("x", "x"), distinct=1)
