"""Dates: parts by hand, parts that never vary, and missing ones."""

import json
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.features.date_feature import DateFeature, date_part
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn
from tests.repetition import for_each


def table(*cells: str) -> RawTable:
    return RawTable(name="t", columns={"a": list(cells)}, positions=range(len(cells)))


def fitted(*cells: str, form: str = "iso") -> DateFeature:
    return DateFeature.fit(TrainingColumn(table(*cells), "a", range(len(cells))), form)


@for_each(
    ("part", "value"),
    [("year", 2024), ("month", 2), ("weekday", 3), ("hour", 12), ("days", 31.5)],
)
def test_parts_by_hand(part: str, value: float) -> None:
    # 1 February 2024 was a Thursday, 31 days and a half after the first.
    assert date_part(datetime(2024, 2, 1, 12), part, datetime(2024, 1, 1)) == value


def test_only_parts_that_vary_are_kept() -> None:
    feature = fitted("2024-01-01", "2024-01-08", "2024-03-04")  # three Mondays of one year
    assert feature.feature_names() == ("a_month", "a_days")
    assert feature.note(0) == "date -> month, days since first"
    # Days 0, 7, 63: mean 70/3; a later date is measured by the same rule.
    days = np.array([0, 7, 63, 366])
    expected = (days - 70 / 3) / np.std([0, 7, 63])
    cells = ("2024-01-01", "2024-01-08", "2024-03-04", "2025-01-01")
    np.testing.assert_allclose(feature.encode(table(*cells))[:, 1], expected, rtol=1e-6)


def test_a_year_of_one_row_in_a_hundred_is_left_to_the_days() -> None:
    """The last evening of a year is the next year in UTC: of 2013, 59 deviations off."""
    days = [f"2013-{1 + row % 12:02}-{1 + row % 28:02}" for row in range(199)]
    rare = fitted(*days, "2014-01-01")
    assert rare.feature_names() == ("a_month", "a_weekday", "a_days")
    assert np.abs(rare.encode(table("2014-03-01"))).max() < 5
    assert rare.decode(rare.encode(table("2014-01-01"))[0].tolist()) == "2014-01-01"
    assert "a_year" in fitted(*days, *["2014-01-01"] * 3).feature_names()


def test_missing_training_dates_get_medians_and_an_indicator() -> None:
    feature = fitted("2024-01-01", "", "2024-01-03", "2024-01-02")
    assert feature.feature_names() == ("a_weekday", "a_days", "a_missing")
    encoded = feature.encode(table("", "2024-01-02"))
    np.testing.assert_array_equal(encoded[:, 2], [1, 0])
    np.testing.assert_array_equal(encoded[0, :2], encoded[1, :2])
    assert feature.note(1) == (
        "date -> day of week, days since first; 1 missing (training medians, with an indicator "
        "column)"
    )
    assert feature.remarks(table("")) == []


def test_of_one_date_or_none_only_the_indicator_is_left() -> None:
    feature = fitted("2024-01-01", "", "2024-01-01")
    assert feature.feature_names() == ("a_missing",)
    assert feature.note(0) == "date -> nothing, all are the same"
    assert feature.remarks(table("2030-01-01")) == []  # it is not learned from


def test_all_dates_of_the_calendar_may_be_learned_from() -> None:
    cells = ("0001-01-01", "2024-03-04 12:30", "9999-12-31 23:59:59.999999")
    feature = fitted(*cells)
    assert feature.remarks(table(*cells)) == []
    decoded = [feature.decode(row) for row in feature.encode(table(*cells)).tolist()]
    assert [text[:7] for text in decoded] == ["0001-01", "2024-03", "9999-12"]


def test_dates_missing_only_later_are_remarked() -> None:
    feature = fitted("2024-01-01", "2024-02-01")
    assert feature.remarks(table("")) == [
        "a: 1 missing, none in training; imputed with the training median"
    ]
    assert feature.remarks(table("2024-01-01")) == []


def test_later_rows_may_hold_dates_as_a_frame_and_json_have_them() -> None:
    feature = fitted("12/31/2023", "1/15/2024", "3/2/2024", form="%m/%d/%Y")
    as_written = feature.encode(table("1/15/2024", "2/1/2024"))
    assert (feature.encode(table("2024-01-15T00:00:00", "2024-02-01")) == as_written).all()


def test_later_rows_must_hold_dates() -> None:
    with pytest.raises(DataError, match=r"^t, row 0: column 'a': 'x' is not a date such as 2024"):
        fitted("2024-01-01", "2024-02-01").encode(table("x"))


def test_json_round_trip() -> None:
    feature = fitted("31.12.2023 10:15", "", "01.02.2024", form="%d.%m.%Y")
    assert "a_hour" in feature.feature_names()
    assert DateFeature.from_json(json.loads(json.dumps(feature.to_json()))) == feature


def test_decoding_gives_the_dates_back() -> None:
    days = ("2024-01-01", "2024-01-08", "2025-03-04")
    feature = fitted(*days)
    assert [feature.decode(row) for row in feature.encode(table(*days)).tolist()] == list(days)
    hours = ("2024-01-01 00:30", "2024-01-08 13:45", "")
    feature = fitted(*hours)
    decoded = [feature.decode(row) for row in feature.encode(table(*hours)).tolist()]
    assert decoded == ["2024-01-01 00:30", "2024-01-08 13:45", "missing"]
    assert len(feature.units()) == len(feature.feature_names())


def test_days_far_outside_the_training_range_are_remarked() -> None:
    feature = fitted("2024-01-01", "2024-01-08", "2024-03-04")
    assert feature.remarks(table("2024-04-01", "2023-12-20")) == []
    assert feature.remarks(table("2025-01-01", "2024-02-01")) == [
        "a: 1 row lies far outside the training range 2024-01-01 to 2024-03-04"
    ]


@for_each(
    "change",
    [
        {"form": "%"},
        {"form": "%Y"},
        {"first": "2024-01-01T00:00:00+00:00"},
        {"parts": {"moon": {"mean": 0.0, "std": 1.0, "median": 0.0}}},
        {"parts": {"days": {"mean": 0.0, "std": 0.0, "median": 0.0}}},
        {"parts": {"days": {"mean": 0.0, "std": 1.0, "median": 0.0, "low": 0.0, "high": 1e300}}},
    ],
    ids=["a stray sign", "a form of nobody", "a time zone", "no part", "no spread", "no end"],
)
def test_what_no_training_gives_is_refused(change: dict[str, Any]) -> None:
    values = fitted("2024-01-01", "2024-01-08", "2024-03-04").to_json()
    assert DateFeature.from_json(values).to_json() == values
    with pytest.raises(DataError, match="'a'"):
        DateFeature.from_json({**values, **change})
