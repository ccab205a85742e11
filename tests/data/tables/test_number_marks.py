"""Numbers as people write them: thousands, decimal commas, and columns that are left alone."""

from netwright.data.tables.column_cells import as_cells
from netwright.data.tables.number_marks import (
    Thousands,
    as_number,
    fitting_thousands,
    plain_number,
    read_marks,
)
from tests.repetition import for_each


@for_each(
    ("thousands", "mark", "cells", "numbers"),
    [
        (
            ",",
            "','",
            ["3,966.03", "1,234,567", "12", "", "-1,000", "12,34,567"],
            [3966.03, 1234567],
        ),
        (".", "'.'", ["3.966,03", "1.234.567", "12", "966,5"], [3966.03, 1234567, 12, 966.5]),
        ("'", '"\'"', ["3'966.03", "1\u2019234,5"], [3966.03, 1234.5]),
        ("space", "the space", ["3 966,03", "1\u202f234\u00a0567"], [3966.03, 1234567]),
    ],
)
def test_a_column_is_read_so(
    thousands: Thousands, mark: str, cells: list[str], numbers: list[float]
) -> None:
    columns, notes = read_marks({"a": as_cells(cells)}, thousands, decimal_commas=False)
    read = [as_number(cell) for cell in columns["a"]]
    assert read[: len(numbers)] == numbers
    assert [cell == "" for cell in columns["a"]] == [cell == "" for cell in cells]
    assert notes == [f"a: {mark} is the thousands separator, as in {cells[0]!r}"]


@for_each(
    ("thousands", "cells"),
    [
        (".", ["1.234", "0.5"]),  # these are points
        (",", ["1,5", "1,234"]),
        (",", ["a, b", "c, d"]),
        ("space", ["10 Downing Street", "1 234"]),
        (".", ["31.12.2024", "01.01.2025"]),
        ("", ["3,966.03", "1,234"]),
        ("", ["1,5", "2,25"]),
    ],
)
def test_a_column_that_is_written_otherwise_is_left_alone(
    thousands: Thousands, cells: list[str]
) -> None:
    given = {"a": as_cells(cells)}
    assert read_marks(given, thousands, decimal_commas=False) == (given, [])


def test_decimal_commas_beside_semicolons_unless_commas_stand_between_thousands() -> None:
    cells = ["1,234", "2,500"]
    columns, notes = read_marks({"a": as_cells(cells)}, "", decimal_commas=True)
    assert columns == {"a": ["1.234", "2.500"]}
    assert notes == ["a: decimal commas were read as points, as in '1,234'"]
    columns, _ = read_marks({"a": as_cells(cells)}, ",", decimal_commas=True)
    assert columns == {"a": ["1234", "2500"]}


@for_each(
    ("text", "mark"),
    [
        ("3,966.03", ","),
        ("3.966,03", "."),
        ("3 966,03", "space"),
        ("3'966", "'"),
        ("1,5", "."),
        ("12.5", ""),
        ("x,y", ""),
        ("1,23,4", ""),
    ],
)
def test_the_setting_that_reads_a_text_as_a_number(text: str, mark: str) -> None:
    assert fitting_thousands(text) == mark
    if mark:
        assert as_number(plain_number(text, mark)) is not None


@for_each("text", ["1_000", "nan", "x", ""])
def test_what_is_no_number(text: str) -> None:
    assert as_number(text) is None
