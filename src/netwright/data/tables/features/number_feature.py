"""A column of numbers: standardised, perhaps after a curve, with an indicator of missing cells."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.data.preprocessing import readable
from netwright.data.tables.cells import numbers_of, unclear_point
from netwright.data.tables.features.feature import MISSING, Feature, side_by_side
from netwright.data.tables.features.number_curve import (
    LogCurve,
    NumberCurve,
    QuantileCurve,
    read_curve,
)
from netwright.data.tables.number_form import NumberForm, read_form
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.scaling import Scaling, ScalingKind
from netwright.data.tables.training_column import TrainingColumn
from netwright.data.training_range import far_sentence


@dataclass(frozen=True, kw_only=True)
class NumberFeature(Feature):
    """A standardised number, and whether it was missing.

    Args:
        name: the column.
        scaling: mean, std and median of the training rows, after the curve where there is one.
        has_indicator: whether `name_missing` tells which cells were missing; only where the
            training rows had some, for otherwise nothing could be learned from it.
        curve: what numbers go through first, or None.
        form: how its numbers are written, where they are not plain.
    """

    kind: ClassVar[str] = "number"
    name: str
    scaling: Scaling
    has_indicator: bool
    curve: NumberCurve | None = None
    form: NumberForm | None = None

    @classmethod
    def fit(
        cls,
        column: TrainingColumn,
        scaling: ScalingKind = "standard",
        form: NumberForm | None = None,
    ) -> "NumberFeature":
        """Fit to the training rows; every row must hold a number or nothing."""
        values = numbers_of(column.table, column.name, form)[column.rows]
        by = Scaling.fit_robust if scaling == "robust" else Scaling.fit
        curve: NumberCurve | None = None
        if scaling == "log":
            curve = LogCurve.fit(values)
        elif scaling == "quantile":
            curve = QuantileCurve.fit(values, column.weights)
        return cls(
            name=column.name,
            scaling=by(values if curve is None else curve.apply(values), column.weights),
            has_indicator=bool(np.isnan(values).any()),
            curve=curve,
            form=form,
        )

    @property
    def median(self) -> float:
        """What stands in place of a missing number, in the units of the column."""
        return self._undo(self.scaling.median)

    def feature_names(self) -> tuple[str, ...]:
        """The column itself, or its curve, where it varies, and the indicator."""
        value = self.name if self.curve is None else f"{self.curve.kind}({self.name})"
        values = (value,) if self.scaling.std else ()
        return (*values, f"{self.name}_missing") if self.has_indicator else values

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """Standardise; missing cells get the training median."""
        values = numbers_of(table, self.name, self.form)
        bent = values if self.curve is None else self.curve.apply(values)
        columns = [self.scaling.apply(bent)] if self.scaling.std else []
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
            return f"{self.median:.7g}"
        value = self.scaling.undo(values[0])
        if self.curve is not None:  # which spreads the noise of float32 unevenly
            return f"{float(f'{self._undo(value):.4g}'):.7g}"
        return readable(value, self.scaling.std)

    def remarks(self, table: RawTable) -> list[str]:
        """Missing cells where training had none, numbers far outside its range, unclear points."""
        said = []
        unclear = unclear_point(table, self.name, range(len(table))) if self.form is None else None
        if unclear is not None and unclear[1].count(".") == 1:  # 1.250.000 is refused
            cell = unclear[1]
            said.append(
                f"{self.name}: {cell} is read as {float(cell):g}, as in training; it may mean "
                f"{cell.replace('.', '')}, since the file has decimal commas"
            )
        missing = int(table.column(self.name).is_missing.sum())
        if missing and not self.has_indicator:
            given = f"imputed with the training median {self.median:.6g}"
            said.append(f"{self.name}: {missing} missing, none in training; {given}")
        return said + self._far_numbers(numbers_of(table, self.name, self.form))

    def _far_numbers(self, values: NDArray[np.float64]) -> list[str]:
        if not self.scaling.std or self.scaling.low is None or self.scaling.high is None:
            return []
        low, high = self._undo(self.scaling.low), self._undo(self.scaling.high)
        far = values[replace(self.scaling, low=low, high=high).far_outside(values)]
        if not len(far):
            return []
        return [far_sentence(self.name, len(far), far, low, high)]

    def note(self, missing: int) -> str:
        """A plain number needs no words."""
        if not missing:
            return "number"
        if not self.scaling.std:
            value = f"otherwise always {self.median:.6g}"
            return f"number, {missing} missing, {value}; only the indicator column is kept"
        median = f"median {self.median:.6g} of the training rows"
        return f"number, {missing} missing ({median}, with an indicator column)"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "scaling": asdict(self.scaling),
            "has_indicator": self.has_indicator,
            "curve": None if self.curve is None else self.curve.to_json(),
            "form": None if self.form is None else self.form.to_json(),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "NumberFeature":
        """The feature that `to_json` gave."""
        return cls(
            name=values["name"],
            scaling=Scaling(**values["scaling"]),
            has_indicator=values["has_indicator"],
            curve=read_curve(values["curve"]) if values.get("curve") else None,  # older: none
            form=read_form(values.get("form")),
        )

    def _undo(self, bent: float) -> float:
        """In the units of the column."""
        return bent if self.curve is None else self.curve.undo(bent)
