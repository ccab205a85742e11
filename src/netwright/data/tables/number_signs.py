"""Signs beside numbers: $12.50, 3,20 EUR, 45 % -> 12.50, 3,20, 45.

A column is read so as a whole or not at all: where two signs stand in it, $5 among 5%, or a text,
the column is left as it is. A percentage keeps its size: 45 % is 45.
"""

import re
from collections.abc import Mapping

from netwright.data.tables.column_cells import Cells
from netwright.data.tables.number_marks import CLEAR_SHARE

_SIGN = r"%|[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|INR"
_NUMBER = r"\d[\d.,'\u2019 \u00a0\u202f]*?(?:[eE][+-]?\d+)?"
# -$5 and $-5; the sign before or after the number.
_SIGNED = re.compile(
    rf"([+-]?)(?:({_SIGN})[ \u00a0]?([+-]?)({_NUMBER})|({_NUMBER})[ \u00a0]?({_SIGN}))"
)
LOOKED_AT = 20  # cells that tell whether a column may have signs


def read_signs(columns: Mapping[str, Cells]) -> tuple[dict[str, Cells], list[str]]:
    """The columns without signs beside their numbers, and a note on each that had some."""
    plain, notes = dict(columns), list[str]()
    for column, cells in columns.items():
        if not _may_have_signs(cells):
            continue
        counts = cells.counts()
        read = {text: found for text in counts if (found := without_sign(text))}
        signs = {sign for _, sign in read.values()}
        signed = sum(counts[text] for text in read)
        if len(signs) == 1 and signed >= CLEAR_SHARE * sum(counts.values()):
            plain[column] = cells.rewritten({text: number for text, (number, _) in read.items()})
            notes.append(f"{column}: numbers with {signs.pop()!r}, as in {next(iter(read))!r}")
    return plain, notes


def without_sign(text: str) -> tuple[str, str] | None:
    """The number, as it is written, and the sign beside it; None where there is no sign."""
    found = _SIGNED.fullmatch(text)
    if found is None:
        return None
    minus, before, inner, first, second, after = found.groups()
    if minus and inner:
        return None
    return f"{minus or inner or ''}{first or second}", before or after


def _may_have_signs(cells: Cells) -> bool:
    """Whether one of the first cells that are there has a sign: most columns are done with here."""
    if cells.numbers is not None:
        return False
    some = [cell for cell in cells[: 5 * LOOKED_AT] if cell][:LOOKED_AT]
    return any(without_sign(cell) for cell in some)
