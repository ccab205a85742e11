"""Numbers: median and indicator of the training rows, and what later rows bring."""

import json

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.scaling import ScalingKind
from netwright.data.tables.training_column import TrainingColumn


def table(*cells: str) -> RawTable:
    lines = range(2, 2 + len(cells))
    return RawTable(
        name="t.csv", columns={"a": list(cells)}, positions=range(len(cells)), lines=lines
    )


def fitted(*cells: str, scaling: ScalingKind = "standard") -> NumberFeature:
    return NumberFeature.fit(TrainingColumn(table(*cells), "a", range(len(cells))), scaling)


def test_missing_training_cells_get_the_median_and_an_indicator() -> None:
    # 0, 0, 6: mean 2, variance (4 + 4 + 16) / 3 = 8, median 0.
    feature = fitted("0", "", "6", "0")
    assert feature.feature_names() == ("a", "a_missing")
    z = [-2 / 8**0.5, -2 / 8**0.5, 4 / 8**0.5, -2 / 8**0.5]
    expected = np.stack([z, [0, 1, 0, 0]], axis=1)
    encoded = feature.encode(table("0", "", "6", "0"))
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded, expected, rtol=1e-6)
    assert feature.note(1) == (
        "number, 1 missing (median 0 of the training rows, with an indicator column)"
    )
    assert feature.remarks(table("", "1")) == []


def test_cells_missing_only_later_get_the_median_and_are_remarked() -> None:
    feature = fitted("1", "3", "8")
    assert feature.feature_names() == ("a",)
    assert feature.note(0) == "number"
    np.testing.assert_array_equal(feature.encode(table("")), feature.encode(table("3")))
    assert feature.remarks(table("", "1", "")) == [
        "a: 2 missing, none in training; imputed with the training median 3"
    ]
    assert feature.remarks(table("4")) == []


def test_one_value_or_missing_leaves_only_the_indicator() -> None:
    feature = fitted("5", "", "5")
    assert feature.feature_names() == ("a_missing",)
    np.testing.assert_array_equal(feature.encode(table("5", "", "7")), [[0], [1], [0]])
    assert feature.units() == [(0.0, 1.0)]
    assert [feature.decode([place]) for place in (0, 1)] == ["5", "missing"]
    assert feature.note(1) == (
        "number, 1 missing, otherwise always 5; only the indicator column is kept"
    )


def test_text_anywhere_is_refused_by_its_line() -> None:
    column = TrainingColumn(table("1", "2", "3", "abc"), "a", [0, 1, 2])
    with pytest.raises(DataError, match=r"^t\.csv:5: column 'a': 'abc' is not a number$"):
        NumberFeature.fit(column)
    with pytest.raises(DataError, match=r"^t\.csv:2: column 'a': 'x' is not a number$"):
        fitted("1", "2").encode(table("x"))


def test_json_keeps_every_bit() -> None:
    feature = fitted("0.1", "0.7", "", "1e-9")
    assert NumberFeature.from_json(json.loads(json.dumps(feature.to_json()))) == feature


def test_decoding_gives_the_cells_back() -> None:
    cells = ("1.5", "", "4", "-2")
    table = RawTable(name="t", columns={"a": list(cells)}, positions=range(4))
    feature = NumberFeature.fit(TrainingColumn(table, "a", range(4)))
    encoded = feature.encode(table)
    assert [feature.decode(row) for row in encoded.tolist()] == ["1.5", "missing", "4", "-2"]
    offset, scale = np.array(feature.units()).T
    np.testing.assert_allclose((encoded * scale + offset)[[0, 2, 3], 0], [1.5, 4, -2], rtol=1e-6)


def test_numbers_far_outside_the_training_range_are_remarked() -> None:
    feature = fitted("1", "3", "9")
    assert feature.remarks(table("13", "-3")) == []  # less than half its width outside
    sentence = "a: 2 rows lie far outside the training range 1 to 9, up to -100"
    assert feature.remarks(table("13.5", "-100", "5")) == [sentence]
    sentence = "a: 1 row lies far outside the training range 1 to 9, up to 14"
    assert feature.remarks(table("14", "5")) == [sentence]
    values = feature.to_json()
    del values["scaling"]["low"], values["scaling"]["high"]
    assert NumberFeature.from_json(values).remarks(table("-100")) == []
    assert fitted("7", "7", "").remarks(table("900")) == []  # it is not learned from


CURVES: tuple[ScalingKind, ...] = ("log", "quantile")


@pytest.mark.parametrize("scaling", CURVES)
def test_a_curve_is_standardised_named_and_told_in_the_units_of_the_column(
    scaling: ScalingKind,
) -> None:
    cells = [str(10.0**place) for place in range(-2, 5)]
    feature = fitted(*cells, "", scaling=scaling)
    assert feature.feature_names() == (f"{scaling}(a)", "a_missing")
    encoded = feature.encode(table(*cells, "", "5"))
    assert encoded[:7, 0].mean() == pytest.approx(0, abs=1e-6)
    assert encoded[:7, 0].std() == pytest.approx(1, abs=1e-6)
    assert (np.diff(encoded[:7, 0]) > 0).all()
    assert encoded[7].tolist() == [encoded[3, 0], 1]  # the median is 10
    assert encoded[2, 0] < encoded[8, 0] < encoded[3, 0]
    assert feature.note(1).startswith("number, 1 missing (median 10 of")
    said = [feature.decode(row) for row in encoded[:8].tolist()]
    assert said == ["0.01", "0.1", "1", "10", "100", "1000", "10000", "missing"]
    assert feature.remarks(table("14000", "-900")) == []
    assert feature.remarks(table("20000", "5")) == [
        "a: 1 row lies far outside the training range 0.01 to 10000, up to 20000"
    ]
    assert NumberFeature.from_json(json.loads(json.dumps(feature.to_json()))) == feature
    kept = feature.to_json()
    assert fitted(*cells).to_json()["curve"] is None
    del kept["curve"]
    assert NumberFeature.from_json(kept).curve is None  # as older runs are
