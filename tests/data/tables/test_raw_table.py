"""Raw tables: places of rows, what is missing, and numbers that are read once."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from netwright.core.errors import DataError
from netwright.data.tables.raw_table import MISSING, RawTable, clean, listed


def lines_table() -> RawTable:
    return RawTable(
        name="t.csv", columns={"a": ["1", "x", ""]}, positions=range(3), lines=[2, 4, 5]
    )


def test_rows_keep_their_places_when_taken() -> None:
    taken = lines_table().take([2, 1])
    assert taken.columns == {"a": ["", "x"]}
    assert (taken.row_name(0), list(taken.positions), len(taken)) == ("line 5", [2, 1], 2)
    assert str(taken.refusal(1, "a", "bad")) == "t.csv:4: column 'a': bad"


def test_rows_without_lines_are_counted_from_zero() -> None:
    table = RawTable(name="frame", columns={"a": ["1", "x"]}, positions=range(2)).take([1])
    assert table.row_name(0) == "row 1"
    assert str(table.refusal(0, "a", "bad")) == "frame, row 1: column 'a': bad"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("defualt", "t.csv has no column 'defualt'; did you mean 'default'?"),
        ("zzz", "t.csv has no column 'zzz'; it has default, INCOME"),
        ("incom", "t.csv has no column 'incom'; did you mean 'INCOME'?"),
    ],
)
def test_unknown_column_is_refused(name: str, sentence: str) -> None:
    table = RawTable(name="t.csv", columns={"default": ["1"], "INCOME": ["2"]}, positions=range(1))
    with pytest.raises(DataError) as refusal:
        table.column(name)
    assert str(refusal.value) == sentence


def test_blanks_go_and_all_that_means_missing_is_empty() -> None:
    assert clean([" a b ", *sorted(MISSING), "\tNA ", "0", "none"]) == [
        "a b",
        *[""] * len(MISSING),
        "",
        "0",
        "none",
    ]


def test_what_other_programs_write_for_missing_is_missing() -> None:
    words = ["NA", "N/A", "NaN", "nan", "NaT", "NULL", "null", "None", "?", "#DIV/0!", "#REF!"]
    assert clean(words) == [""] * len(words)


def test_a_file_has_missing_what_pandas_has_missing_in_its_frame() -> None:
    words = [
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
    ]
    words += ["1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
    text = "".join(f"{place},{word}\n" for place, word in enumerate(words))
    assert pd.read_csv(io.StringIO("a,b\n" + text))["b"].isna().all()
    assert clean(words) == [""] * len(words)


def test_further_texts_can_mean_missing() -> None:
    table = lines_table()
    assert table.with_missing(("x", "y")).columns == {"a": ["1", "", ""]}
    assert table.with_missing(()) is table


def test_numbers_are_read_once_for_each_table() -> None:
    table = RawTable(name="t", columns={"a": ["1", "2"]}, positions=range(2))
    assert table.numbers("a") is table.numbers("a")
    taken = table.take([1]).numbers("a")
    assert taken is not None
    np.testing.assert_array_equal(taken, [2.0])


def test_many_names_are_cut() -> None:
    assert listed(["a", "b"]) == "a, b"
    long = RawTable(name="t.csv", columns={"a": ["1"], "b" * 41: ["1"]}, positions=range(1))
    assert long.column_list == f"a, {'b' * 40}..."
    assert listed([str(i) for i in range(5)], 3) == "0, 1, 2, ... (5 in all)"


def test_all_columns_that_are_missing_are_named() -> None:
    table = RawTable(name="t.csv", columns={"size": ["1"], "x": ["2"]}, positions=[0])
    table.check_columns(["size", "x"])
    with pytest.raises(DataError, match=r"^t.csv has no column 'sise'; did you mean 'size'\?$"):
        table.check_columns(["x", "sise"])
    sentence = "t.csv lacks 2 columns that are needed, 'sise' (did you mean 'size'?), 'colour'"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}; it has size, x$"):
        table.check_columns(["sise", "x", "colour"])


def test_tables_are_equal_by_their_cells_whatever_was_read_of_them() -> None:
    read, unread = (
        RawTable(name="t.csv", columns={"a": ["1", "2"]}, positions=[0, 1]) for _ in range(2)
    )
    assert read.numbers("a") is not None
    assert read == unread
    assert repr(read) == repr(unread)
