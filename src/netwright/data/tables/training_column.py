"""One column of a table, seen from its training rows: what is inferred and fitted rests on it."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.column_cells import Rows
from netwright.data.tables.raw_table import RawTable


class TrainingColumn:
    """A column and its training rows.

    Args:
        table: the whole table; its other rows only serve to refuse cells that cannot be read.
        name: the column's name.
        rows: the training rows.
        weights: how much each of them counts (N,), positive; None: all the same. They enter means,
            medians and which categories are the commonest, not what kind of column it is.
    """

    def __init__(
        self,
        table: RawTable,
        name: str,
        rows: Rows,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.table, self.name, self.weights = table, name, weights
        self.rows = np.asarray(rows, np.int64)
        self.cells = table.column(name).take(self.rows)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Text -> how often it stands in the training rows; missing cells are not counted."""
        return self.cells.counts()

    @cached_property
    def amounts(self) -> Mapping[str, float]:
        """Text -> what its training rows count together."""
        if self.weights is None:
            return self.counts
        codes, texts = self.cells.coded
        sums = np.bincount(codes, self.weights, len(texts)).tolist()
        return {text: amount for text, amount in zip(texts, sums, strict=True) if amount and text}

    @cached_property
    def missing(self) -> int:
        """The number of missing training cells."""
        return int(self.cells.is_missing.sum())

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The training cells as numbers, NaN where missing; None where one is no number."""
        return self.cells.numbers

    @cached_property
    def distinct(self) -> int:
        """The number of different values; 1 and 1.0 are one where all are numbers."""
        if self.numbers is None:
            return len(self.counts)
        present = np.sort(self.numbers)[: len(self.numbers) - self.missing]  # NaN is last
        return int((present[1:] != present[:-1]).sum()) + 1 if len(present) else 0
