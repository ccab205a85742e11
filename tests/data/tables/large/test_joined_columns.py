"""Columns of parts, put together."""

import numpy as np

from netwright.data.tables.column_cells import CodedCells, NumberCells
from netwright.data.tables.large.joined_columns import JoinedColumns
from netwright.data.tables.raw_table import RawTable


def part(start: int, cells: list[str], more: list[str] | None = None) -> RawTable:
    columns = {"x": cells, "c": more or ["red"] * len(cells)}
    places = range(start, start + len(cells))
    return RawTable(name="t.csv", columns=columns, positions=places, lines=[2 + p for p in places])


def test_numbers_of_many_values_are_floats() -> None:
    joined = JoinedColumns(["x"])
    joined.add(part(0, [str(row / 2) for row in range(30)]))
    joined.add(part(30, ["7", "", "7"]))  # few: codes, but numbers too
    cells = joined.table("t.csv").column("x")
    assert isinstance(cells, NumberCells)
    assert cells.numbers is not None
    assert cells.numbers[-3] == 7 and np.isnan(cells.numbers[-2])


def test_texts_stay_as_they_are_written() -> None:
    joined = JoinedColumns(["x", "c"], as_text={"x"})
    joined.add(part(0, [f"{row:03}" for row in range(30)]))
    joined.add(part(30, ["1.50", "b"], ["blue", ""]))
    table = joined.table("t.csv")
    assert isinstance(table.column("x"), CodedCells)
    assert table.column("x")[1] == "001" and table.column("x")[-2:] == ["1.50", "b"]
    assert table.column("c").counts() == {"red": 30, "blue": 1}


def test_a_text_among_later_numbers_makes_all_of_them_texts() -> None:
    joined = JoinedColumns(["x"])
    joined.add(part(0, [str(row) for row in range(30)]))
    joined.add(part(30, ["oops"]))
    cells = joined.table("t.csv").column("x")
    assert cells.numbers is None
    assert (cells[3], cells[-1]) == ("3", "oops")


def test_numbers_that_begin_with_0_in_any_part_have_lost_it() -> None:
    joined = JoinedColumns(["x"])
    joined.add(part(0, ["007"]))  # few: as text
    assert joined.mixed == set()
    joined.add(part(1, [str(row) for row in range(30)]))
    assert joined.mixed == {"x"}


def test_some_rows_keep_their_places() -> None:
    joined = JoinedColumns(["x"])
    joined.add(part(0, ["a", "b", "c"]), np.array([2]))
    joined.add(part(3, ["d", "e"]), np.array([0]))
    table = joined.table("t.csv", ("a note",))
    assert (list(table.positions), list(table.lines or ())) == ([2, 3], [4, 5])
    assert list(table.column("x")) == ["c", "d"]
    assert table.notes == ("a note",)
    assert str(table.refusal(1, "x", "wrong")) == "t.csv:5: column 'x': wrong"
