"""The columns of regular CSV by Arrow's reader: numbers at once, where a sample says so, else text.

A column of numbers is parsed into floats; its text is read again only where it is asked for, by a
refusal or where numbers are taken as categories. So text is not held beside the numbers.

Shapes: N rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.arrow_cells import ArrowCells, arrow_cells
from netwright.data.tables.column_cells import Cells, Coded, PackedCells, finite_numbers
from netwright.data.tables.raw_table import MISSING
from netwright.data.tables.watched_reading import ReadingBar, WatchedBytes

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 2**19  # bytes that are parsed at a time, and of at least ROWS rows
ROWS = 256
FEW = 20  # distinct values in the sample; more are hardly classes, whose text is needed


@dataclass(frozen=True, kw_only=True)
class CsvText:
    """The rows of a regular file.

    Args:
        name: what the file is called.
        content: UTF-8, lines end with a line feed.
        start: where the rows begin.
        sample: where the first rows end by which columns are told to be numbers.
        width: the number of columns.
        delimiter: between the fields.
        longest: bytes of the longest record.
        has_long_fields: whether a line ends inside quotes.
        has_blanks: whether there may be blanks around a cell.
    """

    name: str
    content: bytes
    start: int
    sample: int
    width: int
    delimiter: str
    longest: int
    has_long_fields: bool
    has_blanks: bool

    def columns(self) -> list[Cells] | None:
        """All columns; None where Arrow cannot read them."""
        sample = self._read(self.sample, {})
        if sample is None:
            return None
        cells = (self._text(column) for column in sample)
        numbers = {place for place, one in enumerate(cells) if _are_many_numbers(one)}
        found = self._read(len(self.content), dict.fromkeys(numbers, "double"))
        if found is None and numbers:  # one of them holds text after all
            numbers, found = set(), self._read(len(self.content), {})
        if found is None:
            return None
        columns: list[Cells] = []
        for place in range(self.width):
            column = found.pop(0)  # let go one by one: numbers are copied
            columns.append(self._number(place, column) if place in numbers else self._text(column))
        return columns

    def text(self, place: int) -> ArrowCells:
        """One column as text, which was read as numbers before."""
        found = self._read(len(self.content), {}, [place])
        if found is None:
            raise AssertionError("what was read as numbers can be read as text")
        return self._text(found[0])

    def _number(self, place: int, column: "pa.ChunkedArray") -> Cells:
        values = finite_numbers(_floats(column), column.null_count)
        return self.text(place) if values is None else ParsedCells(values, self, place)

    def _text(self, column: "pa.ChunkedArray") -> ArrowCells:
        # Where there is no blank, the reader has found all that is missing.
        return arrow_cells(column) if self.has_blanks else ArrowCells(column)

    def _read(
        self, stop: int, types: Mapping[int, str], places: Sequence[int] = ()
    ) -> "list[pa.ChunkedArray] | None":
        """The columns up to a byte, of these types and otherwise text; of places only those."""
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import

        with closing(ReadingBar(self.name, stop)) as bar:
            if bar.is_live and stop == len(self.content):  # in pieces, which takes a little longer
                return self._parse(WatchedBytes(self.content, self.start, bar), types, places)
            content = pa.py_buffer(self.content)[self.start : stop]
            return self._parse(pa.BufferReader(content), types, places)

    def _parse(
        self, source: Any, types: Mapping[int, str], places: Sequence[int]
    ) -> "list[pa.ChunkedArray] | None":
        import pyarrow as pa  # noqa: PLC0415 - see above
        from pyarrow import csv  # noqa: PLC0415

        names = [str(place) for place in range(self.width)]
        kinds = {name: types.get(place, "string") for place, name in enumerate(names)}
        try:
            table = csv.read_csv(
                source,
                read_options=csv.ReadOptions(
                    column_names=names,
                    # In one thread: each prepares all columns at a time. A block of few rows would
                    # be mostly the heads of its columns.
                    use_threads=False,
                    block_size=max(BLOCK, ROWS * self.longest),
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=self.has_long_fields
                ),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.type_for_alias(kind) for name, kind in kinds.items()},
                    include_columns=[names[place] for place in places],
                    null_values=sorted(MISSING),
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowException:
            return None
        return list(table.columns)


class ParsedCells(PackedCells):
    """Cells that are all numbers; their text is read when it is asked for."""

    def __init__(self, values: NDArray[np.float64], source: CsvText, place: int) -> None:
        self.values, self.source, self.place = values, source, place

    @property
    def numbers(self) -> NDArray[np.float64]:
        """As they were parsed."""
        return self.values

    @cached_property
    def text(self) -> ArrowCells:
        """The same cells as they are written."""
        return self.source.text(self.place)

    @property
    def coded(self) -> Coded:
        """Of their text."""
        return self.text.coded

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | Sequence[str]:
        return self.text[place]


def _are_many_numbers(cells: Cells) -> bool:
    """Whether a sample holds numbers, and too many of them for classes."""
    return cells.numbers is not None and len(cells.counts()) > FEW


def _floats(column: Any) -> NDArray[np.float64]:
    """The values (N,), NaN where null; filled in piece by piece, as a copy takes longer."""
    values, start = np.empty(len(column)), 0
    for chunk in column.chunks:
        values[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
        start += len(chunk)
    return values
