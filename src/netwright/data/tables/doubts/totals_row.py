"""A last row of totals, as sheets have it: learned from, it is an example like no other."""

import re
from collections.abc import Mapping

from netwright.data.tables.cells import shortened
from netwright.data.tables.column_cells import Cells

_TOTALS = re.compile(
    r"(?:(?:grand|sub|overall)[ -]?)?totals?(?: g[e\u00e9]n[e\u00e9]ral)?|sum|summe|somme|suma|"
    r"gesamt(?:summe)?|insgesamt|totale",
    re.IGNORECASE,
)


def totals_note(columns: Mapping[str, Cells]) -> list[str]:
    """What is said where a cell of the last row, and no other of its column, calls it totals.

    Columns of numbers have no such cell, and their texts would be read from the file once more.
    """
    for name, cells in columns.items():
        text = "" if cells.numbers is not None else cells[len(cells) - 1]
        if _TOTALS.fullmatch(text.strip(" :")) and cells.counts()[text] == 1:
            return [
                f"the last row may be totals, as {name} is {shortened(text)}: it is read like the "
                f"others, remove it from the file if it sums them up"
            ]
    return []
