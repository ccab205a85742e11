"""Cells as Arrow's text: read, cast and compared by its kernels, without a Python string for each.

Shapes: N rows.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.column_cells import (
    Coded,
    ListCells,
    PackedCells,
    finite_numbers,
    plain_numbers,
)
from netwright.data.tables.raw_table import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

# What Python's `str.strip` takes away.
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


class ArrowCells(PackedCells):
    """Cells of an Arrow array of strings; null is a missing cell, and no cell is empty."""

    def __init__(self, array: "pa.ChunkedArray") -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[str]:
        return iter(self.array.fill_null("").to_pylist())

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return ListCells(self.array[place].fill_null("").to_pylist())
        return self.array[int(place)].as_py() or ""

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """By Arrow where it reads them all; it rounds as Python does, and reads less than that."""
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import

        values, start = np.empty(len(self)), 0
        try:
            for chunk in self.array.chunks:
                numbers = chunk.cast(pa.float64()).to_numpy(zero_copy_only=False)
                values[start : start + len(numbers)] = numbers
                start += len(numbers)
        except pa.ArrowInvalid:
            # Text, or digits of another script. The first cells mostly tell, without all of them.
            first = self.array.chunk(0).unique().fill_null("").to_pylist()
            return None if plain_numbers(first) is None else super().numbers
        return finite_numbers(values, self.array.null_count)

    @cached_property
    def coded(self) -> Coded:
        """By the first cell of each text, a missing one among them."""
        found = self.array.fill_null("").dictionary_encode().unify_dictionaries()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in found.chunks])
        return Coded(codes, found.chunk(0).dictionary.to_pylist())

    @cached_property
    def is_missing(self) -> NDArray[np.bool_]:
        """The nulls."""
        return np.array(self.array.is_null().to_numpy())


def arrow_cells(array: "pa.ChunkedArray") -> ArrowCells:
    """Text without blanks around it, and null for all that means missing."""
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
    import pyarrow.compute as pc  # noqa: PLC0415

    trimmed = pc.utf8_trim(array, characters=BLANKS)
    is_missing = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING)))
    return ArrowCells(pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed))
