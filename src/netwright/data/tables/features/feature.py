"""What the columns of a table become: the abstract kind; numbers, categories and dates are final.

Shapes: N rows, F features of one column.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.raw_table import RawTable

MISSING = "missing"


class Feature(ABC):
    """A column of a table, and how its cells become numbers."""

    kind: ClassVar[str]
    name: str

    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """One name for each of the F numbers."""

    @abstractmethod
    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """The column of these rows as numbers (N, F)."""

    @abstractmethod
    def units(self) -> list[tuple[float, float]]:
        """Offset and scale of each of the F numbers: raw = encoded * scale + offset."""

    @abstractmethod
    def decode(self, values: Sequence[float]) -> str:
        """The cell that was encoded as these F numbers, as near as they tell."""

    @abstractmethod
    def remarks(self, table: RawTable) -> list[str]:
        """What is new in these rows: missing cells or categories that training did not have."""

    @abstractmethod
    def note(self, missing: int) -> str:
        """What was done with the column, given the missing cells of the training rows."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain values; "kind" tells which feature it is."""

    @classmethod
    @abstractmethod
    def from_json(cls, values: dict[str, Any]) -> "Feature":
        """The feature that `to_json` gave."""


def side_by_side(columns: Sequence[NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    """Columns (N,) as one array (N, F); F may be 0."""
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0), np.float32)
