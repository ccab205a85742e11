"""Cells as numbers, dates and categories, and the sentences for those that are none."""

import re
from datetime import datetime

import numpy as np
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.cells import (
    as_date,
    category_key,
    check_commas,
    dates_of,
    distinct_categories,
    fitting_date_forms,
    in_order,
    in_quotes,
    numbers_of,
    share_of,
    shortened,
)
from netwright.data.tables.number_marks import as_number
from netwright.data.tables.raw_table import RawTable
from tests.repetition import for_each


def column(*cells: str) -> RawTable:
    lines = range(2, 2 + len(cells))
    return RawTable(
        name="t.csv", columns={"a": list(cells)}, positions=range(len(cells)), lines=lines
    )


@for_each(
    ("text", "value"),
    [("1.5", 1.5), ("-2e3", -2000.0), ("1_0", None), ("nan", None), ("abc", None), ("", None)],
)
def test_number_in_a_cell(text: str, value: float | None) -> None:
    assert as_number(text) == value


@for_each(
    ("text", "form", "value"),
    [
        ("2024-12-31", "iso", datetime(2024, 12, 31)),
        ("2024-12-31T10:30:00Z", "iso", datetime(2024, 12, 31, 10, 30)),
        ("2024/12/31", "%Y/%m/%d", datetime(2024, 12, 31)),
        ("31.12.2024 10:30", "%d.%m.%Y", datetime(2024, 12, 31, 10, 30)),
        ("31.12.2024 10:30+02:00", "%d.%m.%Y", datetime(2024, 12, 31, 10, 30)),
        ("12/31/2024", "%m/%d/%Y", datetime(2024, 12, 31)),
        ("31-12-2024", "%d-%m-%Y", datetime(2024, 12, 31)),
        ("12/31/24", "%m/%d/%y", datetime(2024, 12, 31)),
        ("1.2.70", "%d.%m.%y", datetime(1970, 2, 1)),
        ("12/31/24", "%m/%d/%Y", None),
        ("12/31/2024", "%m/%d/%y", None),
        ("12/31/2024 9:05", "%m/%d/%Y", datetime(2024, 12, 31, 9, 5)),
        ("12/31/2024 3:15 PM", "%m/%d/%Y", datetime(2024, 12, 31, 15, 15)),
        ("12/31/2024 12:00:30 a.m.", "%m/%d/%Y", datetime(2024, 12, 31, 0, 0, 30)),
        ("12/31/2024 13:15 PM", "%m/%d/%Y", None),
        ("12/31/2024 1", "%m/%d/%Y", None),
        ("2024-12-31", "%m/%d/%Y", datetime(2024, 12, 31)),
        ("2024-12-31T10:30:00", "%d %b %Y", datetime(2024, 12, 31, 10, 30)),
        ("31/12/2024", "%m/%d/%Y", None),
        ("2024-13-01", "iso", None),
        ("tomorrow", "iso", None),
        ("1/2/2024 late", "%m/%d/%Y", None),
    ],
)
def test_date_in_a_cell(text: str, form: str, value: datetime | None) -> None:
    assert as_date(text, form) == value


def test_writings_of_one_category_share_a_key() -> None:
    assert category_key("1") == category_key("1.0") == category_key("01") != category_key("2")
    assert category_key("TRUE") == category_key("True") != category_key("FALSE")
    assert category_key("FALSE") == category_key("False")
    assert category_key("0") == category_key("-0.0")
    assert category_key("yes") != category_key("Yes")
    # As floats these two would be equal.
    assert category_key("12345678901234567890") != category_key("12345678901234567891")


def test_categories_are_counted_over_their_writings() -> None:
    assert distinct_categories({"1.0": 2, "1": 3, "b": 1}) == {"1": 5, "b": 1}


def test_names_come_in_their_own_order() -> None:
    assert in_order(["10", "9", "-1.5"]) == ["-1.5", "9", "10"]
    assert in_order(["10", "9", "b", "a"]) == ["10", "9", "a", "b"]


def test_numbers_of_a_column() -> None:
    np.testing.assert_array_equal(numbers_of(column("1", "", "2.5"), "a"), [1, np.nan, 2.5])


@for_each(
    ("cell", "sentence"),
    [
        ("abc", "t.csv:3: column 'a': 'abc' is not a number"),
        ("1_000", "t.csv:3: column 'a': '1_000' is not a number"),
        ("-nan", "t.csv:3: column 'a': '-nan' is not a number"),
        ("1e400", "t.csv:3: column 'a': '1e400' is not finite (the largest number is 3.4e38)"),
        ("-inf", "t.csv:3: column 'a': '-inf' is not finite (the largest number is 3.4e38)"),
        ("1e39", "t.csv:3: column 'a': '1e39' is not finite (the largest number is 3.4e38)"),
        ("z" * 90, f"t.csv:3: column 'a': '{'z' * 40}...' is not a number"),
    ],
)
def test_wrong_number_is_refused_by_its_place(cell: str, sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        numbers_of(column("", cell, "x"), "a")  # a missing cell is nothing wrong
    assert str(refusal.value) == sentence


def test_dates_of_a_column() -> None:
    assert dates_of(column("2024-01-02", ""), "a", "iso") == [datetime(2024, 1, 2), None]


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ("iso", "t.csv:2: column 'a': 'soon' is not a date such as 2024-12-31"),
        ("%d.%m.%Y", "t.csv:2: column 'a': 'soon' is not a date such as 31.12.2024"),
    ],
)
def test_wrong_date_is_refused_by_its_place(form: str, sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        dates_of(column("soon"), "a", form)
    assert str(refusal.value) == sentence


def test_share_counts_cells_and_not_texts() -> None:
    assert share_of({"1": 3, "x": 1}, as_number) == 0.75
    assert share_of({}, as_number) == 0


@for_each(
    ("text", "way_out"),
    [
        ("1,5", ": write 1.5, or train with --set data.thousands=. to read it so"),
        ("1,234,567", ": write 1234567, or train with --set data.thousands=, to read it so"),
        ("3,966.03", ": write 3966.03, or train with --set data.thousands=, to read it so"),
        ("3.966,03", ": write 3966.03, or train with --set data.thousands=. to read it so"),
        ("1'018.5", ': write 1018.5, or train with --set "data.thousands=\'" to read it so'),
        ("1,23,4", ""),
    ],
)
def test_a_column_of_numbers_with_commas_is_refused_with_a_way_out(text: str, way_out: str) -> None:
    with pytest.raises(DataError) as refusal:
        check_commas(column("7", text), "a", range(2))
    assert str(refusal.value) == f"t.csv:3: column 'a': {text!r} is not a number{way_out}"
    with pytest.raises(DataError, match=re.escape(f"{text!r} is not a number{way_out}")):
        numbers_of(column(*["7"] * 99, text), "a")


def test_missing_cells_do_not_hide_a_column_of_commas() -> None:
    with pytest.raises(DataError, match=r"^t\.csv:3: column 'a': '1,5' is not a number"):
        check_commas(column("", "1,5", "", ""), "a", range(4))


def test_a_comma_number_among_names_is_one_of_them() -> None:
    check_commas(column("red", "1,5", "blue"), "a", range(3))


def test_the_work_for_a_refused_column_grows_with_its_texts_and_not_their_square() -> None:
    asked = 0

    class Counted(str):
        def __hash__(self) -> int:
            nonlocal asked
            asked += 1
            return super().__hash__()

    cells = [Counted(f"{place},000") for place in range(1, 201)]
    with pytest.raises(DataError, match=re.escape("t.csv:2: column 'a': '1,000'")):
        check_commas(column(*cells), "a", range(200))
    assert asked < 20 * len(cells)


@pytest.mark.parametrize("text", ["1.5", "a,b", "x"])
def test_other_columns_pass(text: str) -> None:
    check_commas(column("7", text), "a", range(2))


@for_each(
    ("texts", "forms"),
    [
        (["2024-01-02"], ["iso"]),
        (["01/02/2024"], ["%m/%d/%Y", "%d/%m/%Y"]),
        (["01/02/2024", "01/31/2024"], ["%m/%d/%Y"]),
        (["2024-01-02", "x"], []),
        (["2024-01-02", "01/31/2024", "02/01/2024"], ["%m/%d/%Y"]),
        (["2024-01-02", "01/02/2024"], ["%m/%d/%Y", "%d/%m/%Y"]),
        (["1.2.03", "31.12.24"], ["%d.%m.%y"]),
        ([f"0{i}/01/2024" for i in range(1, 10)] * 3 + ["31/01/2024"], ["%d/%m/%Y"]),
    ],
)
def test_forms_that_fit_nearly_all_dates_best(texts: list[str], forms: list[str]) -> None:
    assert fitting_date_forms({text: texts.count(text) for text in texts}) == forms


def test_a_word_that_stands_among_numbers_again_and_again_may_mean_missing() -> None:
    with pytest.raises(DataError, match=r"'-' is not a number; if '-' means .* data\.missing=-$"):
        numbers_of(column("1", "-", "2", "-"), "a")
    with pytest.raises(DataError, match=r"if '-' means missing"):  # a sign may be most of them
        numbers_of(column("1", "-", "-", "-"), "a")
    for cells in (("1", "-", "2"), (*"1xxx",), (*"1----------",), ("1", "2", "no idea", "no idea")):
        with pytest.raises(DataError, match=r"is not a number$"):
            numbers_of(column(*cells), "a")


def test_long_texts_are_cut() -> None:
    assert shortened("abc") == "'abc'"
    assert shortened("abcdef", 3) == "'abc...'"
    assert in_quotes(["a", "b"]) == "'a', 'b'"


@for_each(
    ("text", "form", "date"),
    [
        ("3 Mar 2021", "%d %b %Y", datetime(2021, 3, 3)),
        ("03-March-2021", "%d %b %Y", datetime(2021, 3, 3)),
        ("3 Sept. 2021 10:30", "%d %b %Y", datetime(2021, 9, 3, 10, 30)),
        ("March 3, 2021", "%b %d, %Y", datetime(2021, 3, 3)),
        ("Dec 31 2021", "%b %d, %Y", datetime(2021, 12, 31)),
        ("may 1, 2021 23:59:58", "%b %d, %Y", datetime(2021, 5, 1, 23, 59, 58)),
        ("31 Feb 2021", "%d %b %Y", None),
        ("3 Mars 2021", "%d %b %Y", None),
        ("3 Mar 2021 x", "%d %b %Y", None),
        ("03MAR2021", "%d %b %Y", datetime(2021, 3, 3)),  # SAS
        ("03MAR21:10:30:00", "%d %b %y", datetime(2021, 3, 3, 10, 30)),
        ("03MAR2021", "%d %b %y", None),
        ("3 Mar 08:00", "%d %b %y", None),  # of some year
        ("3 Mar 08:00", "%d %b %y", None),  # of some year
        ("2021/03/03 1:05:09 PM GMT+1", "%Y/%m/%d", datetime(2021, 3, 3, 13, 5, 9)),  # Forms
        ("3/14/2021 10:30 CEST", "%m/%d/%Y", datetime(2021, 3, 14, 10, 30)),
        ("2021-03-03 10:30:00 UTC", "iso", datetime(2021, 3, 3, 10, 30)),
        ("3/4/2021 10:30 X", "%m/%d/%Y", None),
        ("3 Mar 2021T10:30", "%d %b %Y", datetime(2021, 3, 3, 10, 30)),
        ("3 Mar 202112", "%d %b %Y", None),
        ("Mar 3, 20211030", "%b %d, %Y", None),
        ("3 Mar 21", "%d %b %Y", None),
        ("3-Mar-21", "%d %b %y", datetime(2021, 3, 3)),
        ("3-Mar-70 9:05 pm", "%d %b %y", datetime(1970, 3, 3, 21, 5)),
        ("3 Mar 2021", "%d %b %y", None),
        ("March 3, 2021", "%d %b %Y", None),
        ("3 Mar 2021", "%b %d, %Y", None),
    ],
)
def test_dates_with_names_of_months(text: str, form: str, date: datetime | None) -> None:
    assert as_date(text, form) == date
    if date is not None:
        assert fitting_date_forms({text: 3}) == [form]
