"""Categories: one column each, the rare ones together, missing and unseen ones apart."""

import json

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.features.category_feature import CategoryFeature
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn


def table(*cells: str) -> RawTable:
    return RawTable(name="t", columns={"a": list(cells)}, positions=range(len(cells)))


def fitted(*cells: str, max_categories: int = 50) -> CategoryFeature:
    return CategoryFeature.fit(
        TrainingColumn(table(*cells), "a", range(len(cells))), max_categories
    )


def test_each_row_has_its_one_column() -> None:
    feature = fitted("b", "a", "b")
    assert feature.feature_names() == ("a=a", "a=b")
    encoded = feature.encode(table("a", "b"))
    assert encoded.dtype == np.float32
    np.testing.assert_array_equal(encoded, [[1, 0], [0, 1]])
    assert feature.note(0) == "category, 2 values"


def test_unseen_and_newly_missing_cells_are_all_zeros_and_remarked() -> None:
    feature = fitted("a", "b")
    np.testing.assert_array_equal(feature.encode(table("c", "", "a")), [[0, 0], [0, 0], [1, 0]])
    assert feature.remarks(table("c", "", "a", "c")) == [
        "a: a value not seen in training, 'c', in 2 rows",
        "a: 1 missing, none in training",
    ]
    assert feature.remarks(table(*"defg")) == [
        "a: values not seen in training, 'd', 'e', 'f', ..., in 4 rows"
    ]
    assert feature.remarks(table("a")) == []


def test_missing_training_cells_are_a_category_of_their_own() -> None:
    feature = fitted("b", "", "b")
    assert feature.categories == ("b", "missing")
    np.testing.assert_array_equal(feature.encode(table("", "b")), [[0, 1], [1, 0]])
    assert feature.note(1) == "category, 1 value, 1 missing (their own category)"
    assert feature.remarks(table("")) == []


def test_rare_and_unseen_categories_are_other() -> None:
    feature = fitted(*"aaabbcdee", max_categories=3)
    assert feature.categories == ("a", "b", "other")  # b and e are equally common: b by name
    np.testing.assert_array_equal(feature.encode(table("e", "zz", "b", "")).argmax(1), [2, 2, 1, 2])
    assert feature.note(0) == "5 distinct values; the 2 most common kept, the rest is 'other'"
    assert feature.remarks(table("zz")) == []


def test_as_many_categories_as_allowed_are_all_kept() -> None:
    assert fitted(*"abc", max_categories=3).categories == ("a", "b", "c")


def test_texts_that_say_other_and_missing_join_them() -> None:
    feature = fitted("other", "other", "missing", "missing", "", "a", "b", max_categories=3)
    assert feature.categories == ("missing", "other")
    np.testing.assert_array_equal(
        feature.encode(table("other", "a", "missing", "")).argmax(1), [1, 1, 0, 0]
    )
    assert feature.note(1).startswith("4 distinct values; the 2 most common kept")


def test_numbers_as_categories_are_known_in_each_writing() -> None:
    feature = fitted("10", "9", "10.0", "TRUE")
    assert feature.categories == ("10", "9", "TRUE")
    np.testing.assert_array_equal(feature.encode(table("9.0", "10", "true")).argmax(1), [1, 0, 2])
    assert fitted("10", "9").categories == ("9", "10")


@pytest.mark.parametrize("cells", [("a", "b", ""), ("a", "b", "c", "c")])
def test_json_round_trip(cells: tuple[str, ...]) -> None:
    feature = fitted(*cells, max_categories=2)
    assert CategoryFeature.from_json(json.loads(json.dumps(feature.to_json()))) == feature


def test_decoding_gives_the_category_back() -> None:
    cells = ("red", "blue", "red", "")
    table = RawTable(name="t", columns={"a": list(cells)}, positions=range(4))
    feature = CategoryFeature.fit(TrainingColumn(table, "a", range(4)), 10)
    decoded = [feature.decode(row) for row in feature.encode(table).tolist()]
    assert decoded == ["red", "blue", "red", "missing"]
    assert feature.decode([0.0, 0.0, 0.0]) == "not seen in training"
    assert feature.units() == [(0.0, 1.0)] * 3


@pytest.mark.parametrize("flag", ["has_missing", "has_other"])
def test_a_category_of_its_own_is_listed(flag: str) -> None:
    values = fitted("b", "a", "b").to_json()
    with pytest.raises(DataError, match=r"'a' has an unlisted category .*"):
        CategoryFeature.from_json({**values, flag: True})


def test_a_category_whose_share_has_changed_far_is_said() -> None:
    feature = fitted(*["red"] * 30 + ["blue"] * 70)
    assert feature.counts == (70, 30)  # blue, red
    assert feature.remarks(table(*["red"] * 60 + ["blue"] * 40)) == [
        "a: 'blue' in 40% of the rows, 70% in training"
    ]
    assert feature.remarks(table(*["red"] * 40 + ["blue"] * 60)) == []  # a tenth more
    assert feature.remarks(table(*["red"] * 20)) == []  # few rows are one thing or another
    assert feature.remarks(table(*["red"] * 17 + ["blue"] * 14)) == []  # as far, but of few rows
    unseen = feature.remarks(table(*["green"] * 40))
    assert unseen[-1] == "a: 'blue' in 0% of the rows, 70% in training"
    known = feature.to_json()
    assert CategoryFeature.from_json(known).counts == (70, 30)
    old = {name: value for name, value in known.items() if name != "counts"}
    assert CategoryFeature.from_json(old).remarks(table(*["red"] * 90)) == []
    with pytest.raises(DataError, match=r"must have 2 counts of categories, got 1"):
        CategoryFeature.from_json({**known, "counts": [1]})
