"""How numbers are written: 1,234.5 or 1.234,5 or 1 234,5 -> 1234.5.

A column is read so as a whole or not at all: where a mark stands in one cell between other digits
than thousands, 1.5 among 1.234, the column is left as it is.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from netwright.data.tables.column_cells import Cells

Thousands = Literal["", ",", ".", "'", "space"]
# A column with at least this share of numbers is meant to be one: the rest are mistakes.
CLEAR_SHARE = 0.95
_LETTERS: Mapping[str, str] = {",": ",", ".": ".", "'": "'\u2019", "space": " \u00a0\u202f"}
# 1,234 and 12,34,567 (as in India), then decimals after the other mark.
_GROUPED = {
    mark: re.compile(
        rf"[+-]?\d{{1,3}}(?:[{letters}]\d{{2,3}})*[{letters}]\d{{3}}"
        rf"(?:{'[.]' if mark == ',' else ',' if mark == '.' else '[.,]'}\d*)?"
    )
    for mark, letters in _LETTERS.items()
}


def as_number(text: str) -> float | None:
    """The number in a cell, or None; 1_000 is none, although Python reads it."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if "_" in text or math.isnan(value) else value


def read_marks(
    columns: Mapping[str, Cells], thousands: Thousands, *, decimal_commas: bool
) -> tuple[dict[str, Cells], list[str]]:
    """The columns with their numbers in plain writing, and a note on each that was another.

    Args:
        columns: name -> cells.
        thousands: what stands between thousands; where it is no comma, commas are decimal.
        decimal_commas: whether 1,5 is one and a half, as it is beside semicolons.
    """
    plain, notes = dict(columns), list[str]()
    with_commas = thousands != "," and bool(thousands or decimal_commas)
    if not thousands and not with_commas:
        return plain, notes
    for column, cells in columns.items():
        if not thousands and cells.numbers is not None:  # no number has a comma
            continue
        counts = cells.counts()
        grouped = [cell for cell in counts if _has_mark(cell, thousands)]
        if not all(_GROUPED[thousands].fullmatch(cell) for cell in grouped):
            continue
        commas = [cell for cell in counts if "," in cell] if with_commas else []
        if not grouped and not commas:
            continue
        written = {cell: plain_number(cell, thousands) for cell in counts}
        good = sum(n for cell, n in counts.items() if as_number(written[cell]) is not None)
        if good >= CLEAR_SHARE * sum(counts.values()):
            plain[column] = cells.rewritten(written)
            if grouped:
                mark = repr(thousands) if thousands != "space" else "the space"
                notes.append(f"{column}: {mark} is the thousands separator, as in {grouped[0]!r}")
            else:
                notes.append(f"{column}: decimal commas were read as points, as in {commas[0]!r}")
    return plain, notes


def rewritten_columns(columns: Mapping[str, Cells], plain: Mapping[str, Cells]) -> dict[str, Cells]:
    """The columns that `read_marks` has changed, as they were."""
    return {name: cells for name, cells in columns.items() if plain[name] is not cells}


def fitting_thousands(text: str) -> Thousands:
    """The setting with which this is a number; empty where there is none."""
    marks: Sequence[Thousands] = (",", ".", "'", "space")
    for mark in marks:
        if _has_mark(text, mark) and _GROUPED[mark].fullmatch(text):
            return mark
    return "." if "," in text and as_number(text.replace(",", ".", 1)) is not None else ""


def plain_number(cell: str, thousands: str) -> str:
    """A cell without what stands between thousands, and with a decimal point: 1234.5."""
    for letter in _LETTERS.get(thousands, ""):
        cell = cell.replace(letter, "")
    return cell if thousands == "," else cell.replace(",", ".", 1)


def _has_mark(cell: str, thousands: str) -> bool:
    return any(letter in cell for letter in _LETTERS.get(thousands, ""))
