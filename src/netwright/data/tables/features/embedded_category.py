"""A column of categories as one number each, their place in a list: a model looks vectors up by it.

However many categories there are, a row has one number of them. Those of a single training row are
together "other": what could be learned of such a row alone does not tell of others, while "other"
is learned from all of them, and stands for categories that training did not have.

Shapes: N rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.cells import distinct_categories, in_order
from netwright.data.tables.features.category_feature import (
    NOT_SEEN,
    OTHER,
    CategoryFeature,
)
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

FEWEST_ROWS = 2  # of a category that has a vector of its own


@dataclass(frozen=True, kw_only=True)
class EmbeddedCategory(CategoryFeature):
    """The place of each category; one place more is of those that fit nowhere."""

    kind: ClassVar[str] = "embedded"

    @classmethod
    def fit_places(cls, column: TrainingColumn) -> "EmbeddedCategory":
        """Keep every category of two training rows or more."""
        found = distinct_categories(column.counts)
        kept = [name for name, rows in found.items() if rows >= FEWEST_ROWS]
        return cls.counted(column, in_order(kept), len(kept) < len(found), len(found))

    @property
    def levels(self) -> int:
        """How many different numbers it may be."""
        return len(self.categories) + 1

    def feature_names(self) -> tuple[str, ...]:
        """The column itself."""
        return (self.name,)

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """The place of each cell (N, 1); float32 has all whole numbers up to 16.7 million."""
        return self._places(table.column(self.name)).astype(np.float32)[:, None]

    def units(self) -> list[tuple[float, float]]:
        """A place is what it is."""
        return [(0.0, 1.0)]

    def decode(self, values: Sequence[float]) -> str:
        """The category; "not seen in training" beyond the last."""
        (place,) = map(int, values)
        return self.categories[place] if place < len(self.categories) else NOT_SEEN

    def note(self, missing: int) -> str:
        """How many values there are, and how many of them have a vector of their own."""
        gone = f", {missing} missing (their own category)" if missing else ""
        rare = self.distinct - self.kept
        others = f"; {rare} in one training row each are '{OTHER}'" if self.has_other else ""
        return f"category, {self.distinct} values, embedded{others}{gone}"
