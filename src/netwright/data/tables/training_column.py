"""One column of a table, seen from its training rows: what is inferred and fitted rests on it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.raw_table import RawTable, plain_numbers


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
        rows: Sequence[int],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.table, self.name, self.rows, self.weights = table, name, rows, weights

    @cached_property
    def cells(self) -> list[str]:
        """The training cells."""
        cells = self.table.column(self.name)
        return [cells[row] for row in self.rows]

    @cached_property
    def counts(self) -> Counter[str]:
        """Text -> how often it stands in the training rows; missing cells are not counted."""
        counts = Counter(self.cells)
        counts.pop("", None)
        return counts

    @cached_property
    def amounts(self) -> Mapping[str, float]:
        """Text -> what its training rows count together."""
        if self.weights is None:
            return self.counts
        found: dict[str, float] = dict.fromkeys(self.counts, 0.0)
        for text, weight in zip(self.cells, self.weights.tolist(), strict=True):
            if text:
                found[text] += weight
        return found

    @cached_property
    def missing(self) -> int:
        """The number of missing training cells."""
        return self.cells.count("")

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The training cells as numbers, NaN where missing; None where one is no number."""
        whole = self.table.numbers(self.name)
        return plain_numbers(self.cells) if whole is None else whole[np.asarray(self.rows)]

    @cached_property
    def distinct(self) -> int:
        """The number of different values; 1 and 1.0 are one where all are numbers."""
        if self.numbers is None:
            return len(self.counts)
        return len(np.unique(self.numbers[~np.isnan(self.numbers)]))
