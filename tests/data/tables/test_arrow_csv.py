"""Columns by Arrow's reader: numbers at once, and their text when it is asked for."""

import numpy as np
import pytest

from netwright.data.tables import arrow_csv
from netwright.data.tables.arrow_cells import ArrowCells
from netwright.data.tables.arrow_csv import CsvText, ParsedCells
from netwright.data.tables.column_cells import Cells
from tests.repetition import for_each

pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def numbers_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_csv, "FEW", 0)


def columns_of(
    content: bytes, width: int = 2, sample: int | None = None, *, num_rows: int = 3
) -> list[Cells] | None:
    return CsvText(
        name="rows.csv",
        content=content,
        start=0,
        sample=len(content) if sample is None else sample,
        width=width,
        num_rows=num_rows,
        delimiter=",",
        longest=16,
        has_quotes=True,
        has_long_fields=True,
        has_blanks=True,
        may_have_padded=lambda: True,
    ).columns()


def test_text_and_numbers() -> None:
    columns = columns_of(b'1,"x, ""y"""\n\nNA, z \n 2.50 ,"two\nlines"\n')
    assert columns is not None
    numbers, text = columns
    assert isinstance(numbers, ParsedCells)
    np.testing.assert_array_equal(numbers.numbers, [1, np.nan, 2.5])
    assert numbers.is_missing.tolist() == [False, True, False]
    assert numbers == ["1", "", "2.50"]
    assert (len(numbers), numbers[2], list(numbers[:2])) == (3, "2.50", ["1", ""])
    assert numbers.counts() == {"1": 1, "2.50": 1}
    assert isinstance(text, ArrowCells)
    assert text == ['x, "y"', "z", "two\nlines"]


def test_numbers_that_begin_with_0_are_known_though_their_text_is_not_held() -> None:
    columns = columns_of(b"1,07\n20,1\n3,2\n4, 007 \n5,6\n", num_rows=5, sample=4, width=2)
    assert columns is not None
    assert [type(one) for one in columns] == [ParsedCells, ParsedCells]
    assert [one.has_padded for one in columns] == [False, True]


def test_few_values_are_read_as_text_which_classes_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_csv, "FEW", 2)
    columns = columns_of(b"1,1\n2,2\n2,3\n")
    assert columns is not None
    assert [type(column) for column in columns] == [ArrowCells, ParsedCells]


@for_each("late", ["x", "nan(1)", "1e400", "\uff11", "1_0"])
def test_what_the_sample_does_not_tell_is_read_as_text(late: str) -> None:
    columns = columns_of(f"1,1\n2,2\n3,{late}\n".encode(), sample=8)
    assert columns is not None
    assert isinstance(columns[1], ArrowCells)
    assert columns[1] == ["1", "2", late]
    assert columns[0].numbers is not None
    assert columns[0].numbers.tolist() == [1, 2, 3]


@for_each("content", [b"1,2,3\n", b"1\n", b"1,\xff\n"])
def test_what_arrow_cannot_read_is_left_alone(content: bytes) -> None:
    assert columns_of(content, num_rows=1) is None
    assert columns_of(b"1,2\n" + content, sample=4, num_rows=2) is None


@for_each("num_rows", [1, 2, 4])
def test_other_rows_than_were_counted_are_left_alone(num_rows: int) -> None:
    assert columns_of(b"1,x\n2,y\n3,z\n", num_rows=3) is not None
    assert columns_of(b"1,x\n2,y\n3,z\n", num_rows=num_rows) is None
    assert columns_of(b"v,x\nw,y\nu,z\n", num_rows=num_rows) is None


def test_numbers_are_filled_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_csv, "BLOCK", 37)
    monkeypatch.setattr(arrow_csv, "ROWS", 0)
    lines = [f"{row / 7!r},{row if row % 5 else ''}" for row in range(300)]
    columns = columns_of("\n".join(lines).encode(), num_rows=300)
    assert columns is not None
    assert all(isinstance(column, ParsedCells) for column in columns)
    np.testing.assert_array_equal(columns[0].numbers, np.arange(300) / 7)
    whole = [row if row % 5 else np.nan for row in range(300)]
    np.testing.assert_array_equal(columns[1].numbers, whole)


def test_a_field_of_several_lines_may_stand_at_the_end_of_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow_csv, "BLOCK", 37)
    monkeypatch.setattr(arrow_csv, "ROWS", 0)
    columns = columns_of(b'1,"a\nb\nc"\n' * 30, num_rows=30)
    assert columns is not None
    assert columns[1] == ["a\nb\nc"] * 30
