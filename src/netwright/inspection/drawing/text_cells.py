"""Tokens of a text as cells of a figure, from left to right and then down, like words on a page.

Shapes: T tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple

LETTER, LINE = 0.09, 0.32  # inches of a letter and of a line
MONO = "DejaVu Sans Mono"


class Cell(NamedTuple):
    """Where a token stands.

    Args:
        line: counted from the top.
        first: the place of its first letter in that line.
        width: its letters, with one more for the room around them.
    """

    line: int
    first: int
    width: int


def lay_out(tokens: Sequence[str], letters: int) -> list[Cell]:
    """The cells of all tokens (T), where a line has room for so many letters."""
    cells, line, first = [], 0, 0
    for token in tokens:
        width = len(token) + 1
        if first and first + width > letters:
            line, first = line + 1, 0
        cells.append(Cell(line, first, width))
        first += width
    return cells
