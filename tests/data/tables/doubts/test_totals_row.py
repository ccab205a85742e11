"""A last row that may be totals."""

from typing import Any, cast

import numpy as np

from netwright.data.tables.arrow_csv import ParsedCells
from netwright.data.tables.column_cells import Cells, ListCells
from netwright.data.tables.doubts.totals_row import totals_note
from tests.repetition import for_each


def columns(**cells: list[str]) -> dict[str, Cells]:
    return {name: ListCells(texts) for name, texts in cells.items()}


@for_each("word", ["Total", "TOTALS", "Grand Total", "sub-total:", "Summe", "Gesamtsumme", "Somme"])
def test_a_word_for_it_in_the_last_row_is_said(word: str) -> None:
    (said,) = totals_note(columns(n=["1", "2"], region=["east", word]))
    assert said.startswith(f"the last row may be totals, as region is {word!r}: ")


@for_each("cells", [["east", "west"], ["Total", "west"], ["Total", "Total"], ["east", "totally"]])
def test_other_rows_pass(cells: list[str]) -> None:
    assert totals_note(columns(region=cells)) == []


def test_no_column_of_numbers_is_asked_for_its_texts() -> None:
    no_file = cast(Any, None)  # to read a text from it fails
    numbers = ParsedCells(np.array([1.0, 2.0]), no_file, 0)
    assert len(totals_note({"n": numbers, **columns(region=["east", "Total"])})) == 1
