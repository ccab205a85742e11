"""Embedded categories: one number a row, the rare ones together, unseen ones apart."""

import json

import numpy as np

from netwright.data.tables.features.embedded_category import EmbeddedCategory
from netwright.data.tables.training_column import TrainingColumn
from tests.data.tables.features.test_category_feature import table


def fitted(*cells: str) -> EmbeddedCategory:
    return EmbeddedCategory.fit_places(TrainingColumn(table(*cells), "a", range(len(cells))))


def test_each_row_has_the_place_of_its_category() -> None:
    feature = fitted("b", "a", "b", "a", "c", "c")
    assert (feature.feature_names(), feature.levels) == (("a",), 4)
    encoded = feature.encode(table("c", "a", "new", ""))
    assert encoded.dtype == np.float32
    np.testing.assert_array_equal(encoded, [[2], [0], [3], [3]])
    assert feature.remarks(table("c", "a", "new")) == [
        "a: a value not seen in training, 'new', in 1 row"
    ]
    assert feature.note(0) == "category, 3 values, embedded"


def test_categories_of_one_row_and_unseen_ones_share_a_place() -> None:
    feature = fitted("a", "a", "once", "", "")
    assert feature.categories == ("a", "missing", "other")
    np.testing.assert_array_equal(
        feature.encode(table("a", "once", "never", "")), [[0], [2], [2], [1]]
    )
    assert feature.note(2) == (
        "category, 2 values, embedded; 1 in one training row each are 'other', 2 missing (their "
        "own category)"
    )


def test_texts_that_say_other_and_missing_are_not_counted_as_rare() -> None:
    feature = fitted("a", "a", "other", "other", "once", "twice")
    assert feature.categories == ("a", "other")
    assert feature.note(0) == "category, 4 values, embedded; 2 in one training row each are 'other'"
    feature = fitted("a", "a", "missing", "missing", "once", "")
    assert feature.categories == ("a", "missing", "other")
    assert "; 1 in one training row each are 'other'" in feature.note(1)


def test_decoding_gives_the_category_back() -> None:
    feature = fitted("a", "a", "b", "b")
    cells = ["b", "a", "new"]
    rows = feature.encode(table(*cells)).tolist()
    assert [feature.decode(row) for row in rows] == ["b", "a", "not seen in training"]
    assert feature.units() == [(0.0, 1.0)]


def test_json_round_trip() -> None:
    feature = fitted("a", "a", "1", "1.0", "once", "")
    again = EmbeddedCategory.from_json(json.loads(json.dumps(feature.to_json())))
    assert (again, again.counts, again.kept) == (feature, feature.counts, 2)
    assert isinstance(again, EmbeddedCategory)
