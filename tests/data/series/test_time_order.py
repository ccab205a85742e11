"""The order of time: times go forward, and parts follow each other."""

import re
import time

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.series.time_order import (
    check_forward,
    divide_in_time,
    divide_windows,
    find_unordered_dates,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table
from tests.repetition import for_each


def table(**columns: list[str]) -> RawTable:
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return read_table([dict(zip(names, row, strict=True)) for row in rows])


@for_each(
    "times",
    [["1", "2.5", "10"], ["2024-01-31", "2024-02-01"], ["31.1.2024", "1.2.2024"], ["9", "10"]],
    ids=["numbers", "iso", "dotted", "not-as-text"],
)
def test_numbers_and_dates_go_forward(times: list[str]) -> None:
    check_forward(table(t=times), "t")


@pytest.mark.parametrize(
    "times",
    [
        ["2024-03-31 02:00", "2024-03-31 02:30", "2024-03-31 03:00"],
        ["2024-10-27 02:00", "2024-10-27 02:30", "2024-10-27 03:00"],
        ["0001-01-01", "1583-01-01", "9999-12-31"],
        ["2024-01-01 00:00:00.000001", "2024-01-01 00:00:00.000002"],
    ],
    ids=["summer begins", "summer ends", "far off", "microseconds"],
)
def test_the_clock_of_the_machine_makes_no_time_go_back(
    times: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        check_forward(table(t=times), "t")
    finally:
        monkeypatch.undo()
        time.tzset()


@for_each(
    ("times", "wrong"),
    [
        (["1", "3", "2"], "row 2: column 't': '2' must come after '3', the previous row"),
        (["1", "1"], "row 1: column 't': '1' must come after '1', the previous row"),
        (
            ["2024-02-01", "2024-01-31"],
            "row 1: column 't': '2024-01-31' must come after '2024-02-01', the previous row",
        ),
        (["1", ""], "row 1: column 't': the time is missing"),
        (["mon", "tue"], "row 0: column 't': 'mon' is not a number"),
    ],
)
def test_times_that_do_not_go_forward_are_refused_by_their_row(
    times: list[str], wrong: str
) -> None:
    with pytest.raises(DataError, match=re.escape(wrong) + "$"):
        check_forward(table(t=times), "t")


def test_dates_are_out_of_order_where_no_way_to_read_them_goes_forward() -> None:
    rows = table(
        back=["2024-01-02", "", "2024-01-01"],
        twice=["2024-01-01", "2024-01-01", "2024-01-02"],
        either=["02/01/2024", "01/02/2024", "03/03/2024"],  # by the month back, by the day forward
        number=["3", "2", "1"],
    )
    assert list(find_unordered_dates(rows)) == ["back"]


def test_the_first_windows_train_and_the_last_test() -> None:
    parts = divide_in_time(10, val_size=0.2, test_size=0.3)
    assert {name: part.tolist() for name, part in parts.items()} == {
        "train": [0, 1, 2, 3, 4],
        "val": [5, 6],
        "test": [7, 8, 9],
    }


def test_shares_that_leave_nothing_to_train_on_are_refused() -> None:
    with pytest.raises(ConfigError, match=re.escape("must be less than 1, got 0.5 + 0.5")):
        divide_in_time(10, val_size=0.5, test_size=0.5)
    sentence = "1 windows are too few for 0 validation and 1 test"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        divide_in_time(1, val_size=0, test_size=0.9)


def test_a_column_divides_windows_by_the_row_that_they_forecast() -> None:
    rows = table(train=["TRUE"] * 6 + ["FALSE"] * 3)
    parts = divide_windows(rows, torch.arange(2, 9), "train", val_size=0.25)
    assert {name: part.tolist() for name, part in parts.items()} == {
        "train": [0, 1, 2],
        "val": [3],
        "test": [4, 5, 6],
    }
    whole = divide_windows(rows, torch.arange(2, 9), "train", val_size=0)
    assert (whole["train"].tolist(), whole["val"].tolist()) == ([0, 1, 2, 3], [])
    named = table(part=["train", "train", "val", "test"])
    parts = divide_windows(named, torch.arange(1, 4), "part", val_size=0.5)
    assert [part.tolist() for part in parts.values()] == [[0], [1], [2]]


def test_parts_that_do_not_follow_in_time_are_refused() -> None:
    rows = table(part=["test", "train", "train"])
    sentence = "row 0: column 'part': a row of test comes before one of train; splits must be"
    with pytest.raises(DataError, match=re.escape(sentence)):
        divide_windows(rows, torch.arange(3), "part", val_size=0)
    rows = table(part=["train", "test", "test"])
    with pytest.raises(DataError, match="column 'part' leaves no window to train on"):
        divide_windows(rows, torch.arange(1, 3), "part", val_size=0)
