"""Columns of a table that comes in parts, put together: some of its columns, or some of its rows.

Cells of a part hold on to the part. Here they are copied: as floats where they are numbers of many
values, else as codes of their texts.

Shapes: N rows.
"""

from array import array
from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from netwright.data.spec import ClassType
from netwright.data.tables.arrow_csv import FEW
from netwright.data.tables.column_cells import Cells, Coded, CodedCells, NumberCells
from netwright.data.tables.number_marks import Thousands
from netwright.data.tables.raw_table import RawTable

LOOKED_AT = 1000  # rows of a part that tell whether its numbers are many


class JoinedColumns:
    """What is kept of the parts of a table.

    Args:
        columns: those that are kept.
        as_text: those whose texts are needed as they are written, also where they are numbers.
    """

    def __init__(self, columns: Sequence[str], as_text: Collection[str] = ()) -> None:
        self.as_text = as_text
        self.cells: dict[str, list[Cells]] = {name: [] for name in columns}
        self.positions, self.lines = array("q"), array("q")
        self.written: dict[str, list[Cells]] = {}
        self.thousands: Thousands = ""
        self.has_decimal_commas = False
        self.padded: set[str] = set()
        self.types: dict[str, set[ClassType]] = {name: set() for name in columns}

    def add(self, part: RawTable, rows: NDArray[np.int64] | None = None) -> None:
        """Keep all rows of a part, or these."""
        chosen = slice(None) if rows is None else rows
        self.thousands, self.has_decimal_commas = part.thousands, part.has_decimal_commas
        self.positions.frombytes(np.asarray(part.positions, np.int64)[chosen].tobytes())
        if part.lines is not None:
            self.lines.frombytes(np.asarray(part.lines, np.int64)[chosen].tobytes())
        for name, cells in self.cells.items():
            column = part.column(name)
            taken = column if rows is None else column.take(rows)
            if name in part.written or name in self.written:
                whole = part.as_written(name)
                written = self.written.setdefault(name, list(cells))
                written.append(_copied(whole if rows is None else whole.take(rows), as_text=True))
            cells.append(_copied(taken, as_text=name in self.as_text))
            if column.has_padded:
                self.padded.add(name)
            if name in part.types:
                self.types[name].add(part.types[name])

    @property
    def mixed(self) -> set[str]:
        """The columns whose texts are lost: numbers in some parts alone, and such as 007."""
        return {
            name
            for name, cells in self.cells.items()
            if any(isinstance(part, NumberCells) for part in cells)
            and (name in self.padded or any(part.numbers is None for part in cells))
        }

    def table(self, name: str, notes: tuple[str, ...] = ()) -> RawTable:
        """All that was kept as one table."""
        return RawTable(
            name=name,
            columns={name: _joined(cells) for name, cells in self.cells.items()},
            positions=self.positions,
            lines=self.lines or None,
            notes=notes,
            types={name: _one_type(found) for name, found in self.types.items() if found},
            thousands=self.thousands,
            written={name: _joined(cells) for name, cells in self.written.items()},
            has_decimal_commas=self.has_decimal_commas,
        )


def _copied(cells: Cells, *, as_text: bool) -> Cells:
    numbers = None if as_text else cells.numbers
    if numbers is not None and len(np.unique(numbers[:LOOKED_AT])) > FEW:
        return NumberCells(numbers.copy())
    codes, texts = cells.coded
    there, places = np.unique(codes, return_inverse=True)
    return CodedCells(Coded(places.astype(np.int32), [texts[code] for code in there.tolist()]))


def _joined(parts: Sequence[Cells]) -> Cells:
    numbers = [part.numbers for part in parts if any(isinstance(one, NumberCells) for one in parts)]
    known = [values for values in numbers if values is not None]
    if known and len(known) == len(parts):
        return NumberCells(np.concatenate(known))
    coded = [part.coded for part in parts]
    texts = dict.fromkeys(chain.from_iterable(one.texts for one in coded))
    places = {text: place for place, text in enumerate(texts)}
    codes = [np.array([places[text] for text in one.texts], np.int32)[one.codes] for one in coded]
    return CodedCells(Coded(np.concatenate(codes), list(places)))


def _one_type(found: set[ClassType]) -> ClassType:
    """Of whole numbers a batch without a missing one is of another type than one with."""
    if found == {"int", "float"}:
        return "float"
    return found.pop() if len(found) == 1 else ""
