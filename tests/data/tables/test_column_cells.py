"""Cells of a column: however they are held, they are the same texts, numbers and codes."""

import math
from typing import Any

import numpy as np
import pytest

from netwright.data.tables.column_cells import (
    Cells,
    Coded,
    CodedCells,
    ListCells,
    NumberCells,
    as_cells,
    finite_numbers,
    number_text,
    plain_numbers,
)
from tests.repetition import for_each

INT64 = np.iinfo(np.int64)
NUMBERS: list[Any] = [
    np.array([1.5, np.nan, -0.0, 0.0, 3.0, 1e15, 999999999999999.0, 0.1, 1.5, 1e-300]),
    np.array([0.1, np.nan, 16777217, 2.0], np.float32),
    np.array([0.1, 65504], np.float16),
    np.array([np.inf, 1.0]),
    np.array([1e39, 1.0]),
    np.array([np.nan, np.nan]),
    np.array([3, 1, 3, -7, INT64.max, INT64.max - 1, INT64.min]),
    np.array([2**64 - 1, 0], np.uint64),
    np.array([5, 4, 5], np.int8),
    np.arange(12.0)[::3],
]
TEXTS = ["b", "", "a", "b", "1.5"]


def held_in_every_way(texts: list[str]) -> list[Cells]:
    """The same cells as a list, as codes (with a text of no cell), and as rows of longer ones."""
    names = ["unused", *dict.fromkeys(texts)]
    codes = np.array([names.index(text) for text in texts], np.int32)
    longer = ListCells([*reversed(texts), "more"])
    taken = longer.take(range(len(texts) - 1, -1, -1))
    return [ListCells(texts), CodedCells(Coded(codes, names)), taken]


def test_cells_are_the_same_however_they_are_held() -> None:
    for cells in held_in_every_way(TEXTS):
        assert cells == TEXTS
        assert (list(cells), len(cells), cells[2], cells[-1]) == (TEXTS, 5, "a", "1.5")
        assert list(cells[1:3]) == ["", "a"]
        assert cells.counts() == {"b": 2, "a": 1, "1.5": 1}
        assert cells.is_missing.tolist() == [False, True, False, False, False]
        assert [cells.coded.texts[code] for code in cells.coded.codes] == TEXTS
        assert cells.numbers is None
        assert cells.emptied({"b"}) == ["", "", "a", "", "1.5"]
        assert cells.rewritten({"a": "b", "b": "c"}) == ["c", "", "b", "c", "1.5"]
        assert cells.take([4, 0]) == ["1.5", "b"]


def test_numbers_are_the_same_however_they_are_held() -> None:
    for cells in held_in_every_way(["2", "", "-1e-3", "2"]):
        assert cells.numbers is not None
        np.testing.assert_array_equal(cells.numbers, [2, math.nan, -1e-3, 2])
        assert cells.is_missing.tolist() == [False, True, False, False]


def test_a_text_of_a_row_that_is_not_taken_spoils_no_number() -> None:
    numbers = ListCells(["1", "x", "3"]).take([0, 2]).numbers
    assert numbers is not None
    assert numbers.tolist() == [1, 3]


def test_texts_that_become_one_have_one_code() -> None:
    merged = ListCells(["1.0", "1", "2"]).rewritten({"1.0": "1"})
    assert list(merged.coded.texts) == ["1", "2"]
    assert merged.counts() == {"1": 2, "2": 1}
    assert merged.rewritten({"absent": "x"}) is merged


def test_rows_of_rows_and_unequal_cells() -> None:
    taken = ListCells(TEXTS).take([4, 2, 0]).take([2, 1])
    assert taken == ["b", "a"]
    assert taken != ["b"]
    assert taken != 3
    assert as_cells(taken) is taken
    assert isinstance(as_cells(("a", "b")), ListCells)
    with pytest.raises(TypeError, match="unhashable"):
        hash(taken)


def test_numbers_are_exact_and_missing_is_nan() -> None:
    values = plain_numbers(["0.1", "", " 3 ", "-1e-3", "1e38"])
    assert values is not None
    assert values[[0, 2, 3, 4]].tolist() == [0.1, 3.0, -0.001, 1e38]
    assert math.isnan(values[1])


@for_each("cell", ["x", "1_000", "-nan", "inf", "1e400", "-3.5e38", "1,5"])
def test_one_cell_that_is_no_finite_number_spoils_the_column(cell: str) -> None:
    assert plain_numbers(["1", cell, ""]) is None


def test_values_that_are_not_finite_or_missing_unseen_are_no_numbers() -> None:
    given = np.array([1.0, math.nan])
    assert finite_numbers(given, 1) is given
    assert finite_numbers(given, 0) is None
    assert finite_numbers(np.array([1e39]), 0) is None
    for wrong in (-1e39, np.inf, -np.inf, np.nan):
        assert finite_numbers(np.array([1, wrong, 2]), 0) is None
        assert finite_numbers(np.array([1, wrong, np.nan]), 1) is None
    largest = float(np.finfo(np.float32).max)
    for most in (np.array([largest, -largest]), np.array([largest, -largest, np.nan])):
        assert finite_numbers(most, len(most) - 2) is most


@for_each("values", NUMBERS)
def test_numbers_are_the_cells_read_one_by_one(values: Any) -> None:
    ours = NumberCells(values)
    plain = ListCells(map(number_text, values.tolist()))
    assert list(ours) == list(plain)
    assert len(ours) == len(plain)
    assert [ours[place] for place in range(len(values))] == plain
    assert ours[-1] == plain[-1]
    assert list(ours[1:]) == plain[1:]
    assert (ours.numbers is None) == (plain.numbers is None)
    if plain.numbers is not None:
        assert ours.numbers is not None
        assert ours.numbers.dtype == np.float64
        assert np.array_equal(ours.numbers, plain.numbers, equal_nan=True)
    assert ours.coded.texts == plain.coded.texts
    assert np.array_equal(ours.coded.codes, plain.coded.codes)
    assert np.array_equal(ours.is_missing, plain.is_missing)
    assert ours.counts() == plain.counts()
    assert list(ours.take([1, 0])) == [plain[1], plain[0]]
    assert list(ours.emptied(["3", "5"])) == ["" if text in {"3", "5"} else text for text in plain]
