"""A table as it was read: named columns of text, and where each row stands in its source."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from netwright.core.checks import nearest
from netwright.core.errors import DataError
from netwright.data.spec import ClassType
from netwright.data.tables.column_cells import Cells, Rows, as_cells
from netwright.data.tables.number_marks import Thousands

# What pandas takes for missing, so that a file and its frame are read alike; what a spreadsheet has
# where a formula failed; and the question mark of older collections.
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "Null", "null", "None", "?"}
    | {"NaN", "nan", "NAN", "-NaN", "-nan", "NaT", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
    | {"#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"}
)

LONG_NAME = 40  # letters of a column's name; what is longer is cut


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """Columns of text cells, without blanks around them; a missing cell is "".

    Numbers from frames are held as their `repr`, which gives the same float back.

    Args:
        name: the file's name, "frame" or "input"; refusals begin with it.
        columns: name -> cells; at least one row.
        positions: the place of each row in its source, from 0.
        lines: the line in which each row begins, where the source is a text file.
        notes: what was repaired on the way, one sentence each.
        types: column -> what its values were before they were text, where all are of one type.
        thousands: what stands between thousands, where a setting says so.
        written: column -> its cells as they are written, where numbers were put in plain writing.
        has_decimal_commas: whether 1,5 is one and a half in this file.
    """

    name: str
    columns: Mapping[str, Sequence[str]]
    positions: Sequence[int]
    lines: Sequence[int] | None = None
    notes: tuple[str, ...] = ()
    types: Mapping[str, ClassType] = field(default_factory=dict)
    thousands: Thousands = ""
    written: Mapping[str, Cells] = field(default_factory=dict)
    has_decimal_commas: bool = False

    def __post_init__(self) -> None:
        """Hold every column as cells, which know it as a whole."""
        cells = {name: as_cells(column) for name, column in self.columns.items()}
        object.__setattr__(self, "columns", cells)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def column_list(self) -> str:
        """Its columns for a sentence; the name of one that is a sentence itself is cut."""
        return listed(
            [name if len(name) <= LONG_NAME else f"{name[:LONG_NAME]}..." for name in self.columns]
        )

    def column(self, name: str) -> Cells:
        """The cells of a column; a name that is not there is refused with the nearest one."""
        if name not in self.columns:
            hint = nearest(name, self.columns) or f"; it has {self.column_list}"
            raise DataError(f"{self.name} has no column {name!r}{hint}")
        return as_cells(self.columns[name])

    def as_written(self, name: str) -> Cells:
        """The cells of a column before numbers were put in plain writing."""
        return self.written[name] if name in self.written else self.column(name)

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse the table where it lacks some of these columns; all that are missing are named."""
        missing = [name for name in names if name not in self.columns]
        if len(missing) == 1:
            self.column(missing[0])
        if missing:
            shown = [f"{name!r}{_meant(name, self.columns)}" for name in dict.fromkeys(missing)]
            raise DataError(
                f"{self.name} lacks {len(shown)} columns that are needed, {listed(shown)}; "
                f"it has {self.column_list}"
            )

    def numbers(self, name: str) -> NDArray[np.float64] | None:
        """A column as numbers (N,), NaN where missing; None where a cell is no finite number."""
        return self.column(name).numbers

    def row_name(self, row: int) -> str:
        """A row's place inside its source: "line 57", counted from 1, or "row 55", from 0."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"row {self.positions[row]}"

    def refusal(self, row: int, column: str, wrong: str) -> DataError:
        """The error for one cell: where it stands, its column, and what is wrong with it."""
        if self.lines is not None:
            return DataError(f"{self.name}:{self.lines[row]}: column {column!r}: {wrong}")
        return DataError(f"{self.name}, {self.row_name(row)}: column {column!r}: {wrong}")

    def take(self, rows: Rows) -> "RawTable":
        """These rows, in this order; they keep their places in the source."""
        places = np.asarray(rows, np.int64)
        return replace(
            self,
            columns={name: self.column(name).take(places) for name in self.columns},
            positions=np.asarray(self.positions)[places].tolist(),
            lines=None if self.lines is None else np.asarray(self.lines)[places].tolist(),
            written={name: cells.take(places) for name, cells in self.written.items()},
        )

    def with_missing(self, texts: Collection[str]) -> "RawTable":
        """The same table, with these texts taken as missing too."""
        if not texts:
            return self
        return replace(
            self,
            columns={name: self.column(name).emptied(texts) for name in self.columns},
            written={name: cells.emptied(texts) for name, cells in self.written.items()},
        )


def _meant(name: str, known: Iterable[str]) -> str:
    """A column that was perhaps meant, in brackets."""
    close = nearest(name, known).removeprefix("; ")
    return f" ({close})" if close else ""


def clean(cells: Iterable[str]) -> list[str]:
    """Cells without the blanks around them, and "" for all that means missing."""
    return ["" if (text := cell.strip()) in MISSING else text for cell in cells]


def listed(names: Collection[str], limit: int = 12) -> str:
    """The names, with commas between them; of many, the first and how many there are."""
    shown = ", ".join(list(names)[:limit])
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
