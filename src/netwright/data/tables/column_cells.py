"""The cells of one column: text by the row, and the column as a whole without Python for each cell.

Inference, fitting and encoding ask for numbers, for distinct texts and their codes, and for what is
missing. How cells are held is the matter of each kind: a list, codes, Arrow's text, or the numbers
of a frame.

Shapes: N rows.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

WIDEST = 8  # bytes of a number: what is wider has digits that a float64 loses
LARGEST = float(np.finfo(np.float32).max)  # what a model's 32-bit floats can hold
PADDED = "^0[0-9]+$"  # 007: as a number it is another's too

Rows = Sequence[int] | NDArray[np.int64]


class Coded(NamedTuple):
    """A column as `texts[codes]`.

    Args:
        codes: (N,) the place of each cell's text.
        texts: no two alike; "" is the text of missing cells. There may be texts of no cell.
    """

    codes: NDArray[np.int32]
    texts: Sequence[str]


class Cells(Sequence[str], ABC):
    """Text cells without blanks around them; a missing cell is ""."""

    @property
    @abstractmethod
    def numbers(self) -> NDArray[np.float64] | None:
        """The cells as numbers (N,), NaN where missing; None where one is no finite number."""

    @property
    @abstractmethod
    def coded(self) -> Coded:
        """The distinct texts, and which of them each cell has."""

    @cached_property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which cells are missing (N,)."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        codes, texts = self.coded
        return np.isin(codes, [place for place, text in enumerate(texts) if not text])

    @cached_property
    def has_padded(self) -> bool:
        """Whether a cell is of digits that begin with a 0: 007."""
        return any(is_padded(text) for text in self.coded.texts)

    def take(self, rows: Rows) -> "Cells":
        """These rows, in this order; nothing is copied."""
        return TakenCells(self, rows)

    def emptied(self, texts: Collection[str]) -> "Cells":
        """The same cells, with these texts taken as missing too."""
        return self.rewritten(dict.fromkeys(texts, ""))

    def rewritten(self, new_texts: Mapping[str, str]) -> "Cells":
        """The same cells, some texts replaced by others; itself where it has none of them."""
        codes, texts = self.coded
        if not any(text in new_texts for text in texts):
            return self
        written = [new_texts.get(text, text) for text in texts]
        places = {text: place for place, text in enumerate(dict.fromkeys(written))}
        merged = np.array([places[text] for text in written], np.int32)
        return CodedCells(Coded(merged[codes], list(places)))

    def counts(self) -> dict[str, int]:
        """Text -> how often it stands here; missing cells are not counted."""
        return counted(self.coded)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list's

    def __iter__(self) -> Iterator[str]:
        codes, texts = self.coded
        return (texts[code] for code in codes.tolist())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    @abstractmethod
    def __getitem__(self, place: SupportsIndex | slice) -> str | Sequence[str]:
        """One cell, or several."""


def is_padded(text: str) -> bool:
    """Whether these are digits that begin with a 0, and no 0 alone."""
    return re.match(PADDED, text) is not None


def counted(coded: Coded) -> dict[str, int]:
    """Text -> the number of cells that have it; missing cells are not counted."""
    counts = np.bincount(coded.codes, minlength=len(coded.texts)).tolist()
    return {text: n for text, n in zip(coded.texts, counts, strict=True) if n and text}


class ListCells(list[str], Cells):
    """Cells as they are read one by one."""

    __eq__ = list.__eq__
    __hash__ = None  # type: ignore[misc]  # a list has none
    __iter__ = list.__iter__
    __repr__ = list.__repr__

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Each cell as Python reads it."""
        return plain_numbers(self)

    @cached_property
    def coded(self) -> Coded:
        """By the first cell of each text."""
        places = {text: place for place, text in enumerate(dict.fromkeys(self))}
        return Coded(np.fromiter((places[cell] for cell in self), np.int32, len(self)), [*places])


class PackedCells(Cells):
    """What cells share that are no list: where one is no number, all are read one by one."""

    def __len__(self) -> int:
        return len(self.coded.codes)

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return ListCells(self[row] for row in range(*place.indices(len(self))))
        return self.coded.texts[int(self.coded.codes[int(place)])]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Each distinct text as Python reads it; only texts that some cell has are asked."""
        codes, texts = self.coded
        values = np.zeros(len(texts))
        there = np.flatnonzero(np.bincount(codes, minlength=len(texts)))
        found = plain_numbers([texts[place] for place in there.tolist()])
        if found is None:
            return None
        values[there] = found
        numbers: NDArray[np.float64] = values[codes]
        return numbers


class CodedCells(PackedCells):
    """Cells that are held as codes."""

    def __init__(self, coded: Coded) -> None:
        self._coded = coded

    @property
    def coded(self) -> Coded:
        """As it was given."""
        return self._coded


class TakenCells(PackedCells):
    """Some rows of other cells, which are not copied."""

    def __init__(self, whole: Cells, rows: Rows) -> None:
        self.whole, self.rows = whole, np.asarray(rows, np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return TakenCells(self.whole, self.rows[place])
        return self.whole[int(self.rows[int(place)])]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Those of the whole; where it has a cell that is none, that cell may be left out here."""
        whole = self.whole.numbers
        return super().numbers if whole is None else whole[self.rows]

    @cached_property
    def has_padded(self) -> bool:
        """That of the whole; its cell may be left out here."""
        return self.whole.has_padded

    @cached_property
    def coded(self) -> Coded:
        """With the texts of the whole."""
        return Coded(self.whole.coded.codes[self.rows], self.whole.coded.texts)


class NumberCells(PackedCells):
    """Cells that are numbers; NaN is a missing cell."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[str]:
        return map(number_text, self.values.tolist())

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> ListCells: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | ListCells:
        if isinstance(place, slice):
            return ListCells(map(number_text, self.values[place].tolist()))
        return number_text(self.values[int(place)].item())

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """As they are, in 64 bits."""
        floats = np.asarray(self.values, np.float64)
        return finite_numbers(floats, int(np.isnan(floats).sum()))

    @cached_property
    def is_missing(self) -> NDArray[np.bool_]:
        """The NaN."""
        missing: NDArray[np.bool_] = np.isnan(self.values)
        return missing

    @cached_property
    def has_padded(self) -> bool:
        """Numbers have lost their zeros."""
        return False

    @cached_property
    def coded(self) -> Coded:
        """By the first cell of each number; 0 and -0 are one, as their texts are."""
        found, first, codes = np.unique(self.values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order))
        return Coded(places[codes], [number_text(one) for one in found[order].tolist()])


def is_plain(dtype: Any) -> bool:
    """Whether a column's values are whole numbers or floats in an ordinary array."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fiu" and dtype.itemsize <= WIDEST


def number_text(value: float) -> str:
    """A number as a cell, whole ones without a point, "" for NaN; read again it is the same."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return ""
    # 1.0 is written 1: a frame turns whole numbers into floats as soon as one is missing.
    whole = value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(value)


def as_cells(cells: Sequence[str]) -> Cells:
    """Cells of any kind; a plain sequence becomes a list of them."""
    return cells if isinstance(cells, Cells) else ListCells(cells)


def plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Cells as numbers (N,), NaN where missing; None where one is text, not finite or too large."""
    try:
        values = np.array([float(cell) if cell else math.nan for cell in cells], np.float64)
    except ValueError:
        return None
    # Python reads 1_000 and -nan too; a table that holds them means something else.
    if "_" in "".join(cells):
        return None
    return finite_numbers(values, cells.count(""))


def finite_numbers(values: NDArray[np.float64], missing: int) -> NDArray[np.float64] | None:
    """The values, where only so many are NaN and none is too large for a model's floats."""
    if missing:
        if np.count_nonzero(np.isnan(values)) != missing:
            return None
        low, high = np.fmin.reduce(values, initial=0), np.fmax.reduce(values, initial=0)
    else:  # both are NaN where a value is: two looks at each, where the above takes four
        low, high = values.min(initial=0), values.max(initial=0)
    return values if low >= -LARGEST and high <= LARGEST else None
