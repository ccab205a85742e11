"""The columns of regular CSV by Arrow's reader: numbers at once, where a sample says so, else text.

A column of numbers is parsed into floats; its text is read again only where it is asked for, by a
refusal or where numbers are taken as categories. So text is not held beside the numbers. Columns
are filled block by block: the memory that a block was parsed into serves the next.

Shapes: N rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.arrow_cells import BLANKS, ArrowCells, arrow_cells
from netwright.data.tables.column_cells import (
    PADDED,
    Cells,
    Coded,
    PackedCells,
    finite_numbers,
)
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
        num_rows: the number of rows.
        delimiter: between the fields.
        longest: bytes of the longest record.
        has_quotes: whether there are quotes.
        has_long_fields: whether a line ends inside quotes.
        has_blanks: whether there may be blanks around a cell.
        may_have_padded: asks whether a cell may be 007, which a number is not.
    """

    name: str
    content: bytes
    start: int
    sample: int
    width: int
    num_rows: int
    delimiter: str
    longest: int
    has_quotes: bool
    has_long_fields: bool
    has_blanks: bool
    may_have_padded: Callable[[], bool]

    def columns(self) -> list[Cells] | None:
        """All columns; None where Arrow cannot read them, or finds other rows."""
        sample = self._texts(self.sample)
        if sample is None:
            return None
        numbers = {place for place, one in enumerate(sample) if _are_many_numbers(one)}
        found = self._columns(numbers)
        if found is None and numbers:  # one of them holds text after all
            found = self._columns(set())
        return found

    def text(self, place: int) -> ArrowCells:
        """One column as text, which was read as numbers before."""
        found = self._texts(len(self.content), [place])
        if found is None:
            raise AssertionError("what was read as numbers can be read as text")
        return found[0]

    @cached_property
    def padded(self) -> frozenset[int]:
        """The columns with a cell such as 007; they are read as text once, all together."""
        import pyarrow.compute as pc  # noqa: PLC0415 - optional, and slow to import

        found: set[int] = set()
        for batch in self._batches(len(self.content), {}) if self.may_have_padded() else ():
            for place in {*range(self.width)} - found:
                cells = batch.column(place)
                cells = pc.utf8_trim(cells, characters=BLANKS) if self.has_blanks else cells
                if pc.any(pc.match_substring_regex(cells, PADDED)).as_py():
                    found.add(place)
        return frozenset(found)

    def _columns(self, numbers: set[int]) -> list[Cells] | None:
        """All columns, those of numbers as floats."""
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import

        floats = {place: _Floats(self.num_rows) for place in numbers}
        texts: dict[int, list[pa.Array]] = {
            place: [] for place in range(self.width) if place not in numbers
        }
        rows = 0
        try:
            for batch in self._batches(len(self.content), dict.fromkeys(numbers, "double")):
                rows += len(batch)
                if rows > self.num_rows:
                    return None
                for place, column in enumerate(batch.columns):
                    (floats[place] if place in numbers else texts[place]).append(column)
        except pa.ArrowException:
            return None
        if rows < self.num_rows:
            return None
        return [
            self._number(place, floats[place]) if place in numbers else self._text(texts[place])
            for place in range(self.width)
        ]

    def _number(self, place: int, column: "_Floats") -> Cells:
        values = finite_numbers(column.values, column.missing)
        return self.text(place) if values is None else ParsedCells(values, self, place)

    def _texts(self, stop: int, places: Sequence[int] = ()) -> list[ArrowCells] | None:
        """Columns up to a byte, all or of these places, as text."""
        import pyarrow as pa  # noqa: PLC0415 - see above

        try:
            batches = list(self._batches(stop, {}, places))
        except pa.ArrowException:
            return None
        return [self._text(list(blocks)) for blocks in zip(*batches, strict=True)]

    def _text(self, blocks: "list[pa.Array]") -> ArrowCells:
        import pyarrow as pa  # noqa: PLC0415 - see above

        # Where there is no blank, the reader has found all that is missing.
        column = pa.chunked_array(blocks, pa.string())
        return arrow_cells(column) if self.has_blanks else ArrowCells(column)

    def _batches(
        self, stop: int, types: Mapping[int, str], places: Sequence[int] = ()
    ) -> "Iterator[pa.RecordBatch]":
        """The columns up to a byte, of these types and otherwise text; of places only those."""
        import pyarrow as pa  # noqa: PLC0415 - see above
        from pyarrow import csv  # noqa: PLC0415

        names = [str(place) for place in range(self.width)]
        kinds = {name: types.get(place, "string") for place, name in enumerate(names)}
        with closing(ReadingBar(self.name, stop)) as bar:
            yield from csv.open_csv(
                self._source(stop, bar),
                read_options=csv.ReadOptions(
                    column_names=names,
                    # In one thread: each prepares all columns at a time. A block of few rows would
                    # be mostly the heads of its columns.
                    use_threads=False,
                    block_size=max(BLOCK, ROWS * self.longest),
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char='"' if self.has_quotes else False,  # sought in each field
                    double_quote=self.has_quotes,
                    newlines_in_values=self.has_long_fields,
                ),
                convert_options=csv.ConvertOptions(
                    column_types={name: pa.type_for_alias(kind) for name, kind in kinds.items()},
                    include_columns=[names[place] for place in places],
                    null_values=sorted(MISSING),
                    strings_can_be_null=True,
                ),
            )

    def _source(self, stop: int, bar: ReadingBar) -> Any:
        """The bytes of the rows up to a place."""
        import pyarrow as pa  # noqa: PLC0415 - see above

        if bar.is_live and stop == len(self.content):  # in pieces, which takes a little longer
            return WatchedBytes(self.content, self.start, bar)
        return pa.BufferReader(pa.py_buffer(self.content)[self.start : stop])


class _Floats:
    """A column of numbers that is filled block by block, NaN where a cell is missing."""

    def __init__(self, num_rows: int) -> None:
        self.values = np.empty(num_rows)
        self.missing = self._end = 0

    def append(self, block: "pa.Array") -> None:
        """Copy the next rows."""
        start, self._end = self._end, self._end + len(block)
        self.values[start : self._end] = block.to_numpy(zero_copy_only=False)
        self.missing += block.null_count


class ParsedCells(PackedCells):
    """Cells that are all numbers; their text is read when it is asked for."""

    def __init__(self, values: NDArray[np.float64], source: CsvText, place: int) -> None:
        self.values, self.source, self.place = values, source, place

    @property
    def numbers(self) -> NDArray[np.float64]:
        """As they were parsed."""
        return self.values

    @cached_property
    def has_padded(self) -> bool:
        """As the file has it."""
        return self.place in self.source.padded

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
