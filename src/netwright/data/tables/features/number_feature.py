"""A column of numbers: standardised, with an indicator of missing cells beside it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.data.preprocessing import readable
from netwright.data.tables.cells import numbers_of
from netwright.data.tables.features.feature import MISSING, Feature, side_by_side
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.scaling import Scaling, ScalingKind
from netwright.data.tables.training_column import TrainingColumn


@dataclass(frozen=True, kw_only=True)
class NumberFeature(Feature):
    """A standardised number, and whether it was missing.

    Args:
        name: the column.
        scaling: mean, std and median of the training rows.
        has_indicator: whether `name_missing` tells which cells were missing; only where the
            training rows had some, for otherwise nothing could be learned from it.
    """

    kind: ClassVar[str] = "number"
    name: str
    scaling: Scaling
    has_indicator: bool

    @classmethod
    def fit(cls, column: TrainingColumn, scaling: ScalingKind = "standard") -> "NumberFeature":
        """Fit to the training rows; every row must hold a number or nothing."""
        values = numbers_of(column.table, column.name)[column.rows]
        by = Scaling.fit_robust if scaling == "robust" else Scaling.fit
        return cls(
            name=column.name,
            scaling=by(values, column.weights),
            has_indicator=bool(np.isnan(values).any()),
        )

    def feature_names(self) -> tuple[str, ...]:
        """The column itself, where it varies, and the indicator."""
        value = (self.name,) if self.scaling.std else ()
        return (*value, f"{self.name}_missing") if self.has_indicator else value

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """Standardise; missing cells get the training median."""
        values = numbers_of(table, self.name)
        columns = [self.scaling.apply(values)] if self.scaling.std else []
        if self.has_indicator:
            columns.append(np.isnan(values).astype(np.float32))
        return side_by_side(columns, len(table))

    def units(self) -> list[tuple[float, float]]:
        """Mean and standard deviation; the indicator is as it is."""
        value = [(self.scaling.mean, self.scaling.std)] if self.scaling.std else []
        return [*value, (0.0, 1.0)] if self.has_indicator else value

    def decode(self, values: Sequence[float]) -> str:
        """The number, or "missing" where the indicator says so."""
        if self.has_indicator and values[-1]:
            return MISSING
        if not self.scaling.std:
            return f"{self.scaling.median:.7g}"
        return readable(self.scaling.undo(values[0]), self.scaling.std)

    def remarks(self, table: RawTable) -> list[str]:
        """Missing cells, where training had none, and numbers far outside the training range."""
        said = []
        missing = int(table.column(self.name).is_missing.sum())
        if missing and not self.has_indicator:
            given = f"imputed with the training median {self.scaling.median:.6g}"
            said.append(f"{self.name}: {missing} missing, none in training; {given}")
        values = numbers_of(table, self.name)
        far = values[self.scaling.far_outside(values)] if self.scaling.std else values[:0]
        if len(far):
            farthest = far[np.argmax(abs(far - self.scaling.mean))]
            rows = "1 row lies" if len(far) == 1 else f"{len(far)} rows lie"
            said.append(
                f"{self.name}: {rows} far outside the training range "
                f"{self.scaling.low:.6g} to {self.scaling.high:.6g}, up to {farthest:.6g}"
            )
        return said

    def note(self, missing: int) -> str:
        """A plain number needs no words."""
        if not missing:
            return "number"
        if not self.scaling.std:
            value = f"otherwise always {self.scaling.median:.6g}"
            return f"number, {missing} missing, {value}; only the indicator column is kept"
        median = f"median {self.scaling.median:.6g} of the training rows"
        return f"number, {missing} missing ({median}, with an indicator column)"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "NumberFeature":
        """The feature that `to_json` gave."""
        return cls(
            name=values["name"],
            scaling=Scaling(**values["scaling"]),
            has_indicator=values["has_indicator"],
        )
