"""Cells of a column: however they are held, they are the same texts, numbers and codes."""

import math

import numpy as np
import pytest

from netwright.data.tables.column_cells import (
    Cells,
    Coded,
    CodedCells,
    ListCells,
    as_cells,
    finite_numbers,
    plain_numbers,
)
from tests.repetition import for_each

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
