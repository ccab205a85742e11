"""A column of dates: its year, month, day of week and age in days, each a standardised number."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.tables.cells import DATE_FORMS, dates_of
from netwright.data.tables.features.feature import MISSING, Feature, side_by_side
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.scaling import Scaling
from netwright.data.tables.training_column import TrainingColumn

_WORDS = {
    "year": "year",
    "month": "month",
    "weekday": "day of week",
    "hour": "hour",
    "days": "days since first",
}

# A year with a smaller standard deviation is that of 99 in 100 rows: the rare ones would be 10 and
# more when standardised, and so would each row of the year after, which drowns all other columns.
# What the year could say of them, the days since the first do.
YEAR_VARIES = 0.1


def date_part(date: datetime, part: str, first: datetime) -> float:
    """A part of a date as a number: months 1 to 12, days of the week 0 (Monday) to 6."""
    if part == "weekday":
        return date.weekday()
    if part == "days":
        return (date - first).total_seconds() / 86_400
    return {"year": date.year, "month": date.month, "hour": date.hour}[part]


MOST_DAYS = date_part(datetime.max, "days", datetime.min)


@dataclass(frozen=True, kw_only=True)
class DateFeature(Feature):
    """The parts of a date that vary in the training rows.

    Args:
        name: the column.
        form: how the dates are written: "iso", or as `strptime` reads them.
        first: the earliest date of the training rows.
        parts: part -> its scaling.
        has_indicator: whether `name_missing` tells which cells were missing.
    """

    kind: ClassVar[str] = "date"
    name: str
    form: str
    first: datetime
    parts: dict[str, Scaling]
    has_indicator: bool

    def __post_init__(self) -> None:
        """Refuse what no training rows give: it may come from a file of somebody else."""
        if self.form not in DATE_FORMS:
            raise DataError(f"dates of {self.name!r:.60} have an unknown format, {self.form!r:.60}")
        if self.first.tzinfo is not None:
            raise DataError(f"the first date of {self.name!r:.60} has a time zone, wanted none")
        for part, scaling in self.parts.items():
            if part not in _WORDS or not scaling.std > 0:
                raise DataError(
                    f"{part!r:.60} of {self.name!r:.60} is not a part of the date that varies"
                )
            if part == "days" and (scaling.high or 0) > MOST_DAYS:
                raise DataError(f"dates of {self.name!r:.60} end after {scaling.high:g} days")

    @classmethod
    def fit(cls, column: TrainingColumn, form: str) -> "DateFeature":
        """Fit to the training rows; every row must hold a date or nothing."""
        dates = dates_of(column.table, column.name, form)
        train = [dates[row] for row in column.rows]
        first = min(date for date in train if date is not None)
        parts = {part: Scaling.fit(_values(train, part, first), column.weights) for part in _WORDS}
        return cls(
            name=column.name,
            form=form,
            first=first,
            parts={part: scaling for part, scaling in parts.items() if _varies(part, scaling)},
            has_indicator=None in train,
        )

    def feature_names(self) -> tuple[str, ...]:
        """column_part, and the indicator."""
        names = [f"{self.name}_{part}" for part in self.parts]
        return tuple([*names, f"{self.name}_missing"] if self.has_indicator else names)

    def encode(self, table: RawTable) -> NDArray[np.float32]:
        """Standardised parts; missing dates get the training median of each."""
        dates = dates_of(table, self.name, self.form)
        columns = [
            scaling.apply(_values(dates, part, self.first)) for part, scaling in self.parts.items()
        ]
        if self.has_indicator:
            columns.append(np.array([date is None for date in dates], np.float32))
        return side_by_side(columns, len(table))

    def units(self) -> list[tuple[float, float]]:
        """Mean and standard deviation of each part; the indicator is as it is."""
        parts = [(scaling.mean, scaling.std) for scaling in self.parts.values()]
        return [*parts, (0.0, 1.0)] if self.has_indicator else parts

    def decode(self, values: Sequence[float]) -> str:
        """The day, counted from the first; "missing" where the indicator says so."""
        if self.has_indicator and values[-1]:
            return MISSING
        parts = dict(zip(self.parts, values, strict=False))  # the indicator is no part
        days = self.parts["days"].undo(parts["days"]) if "days" in parts else 0.0
        has_hours = "hour" in self.parts
        try:
            minutes = round(days * 1440) if has_hours else round(days) * 1440
            date = self.first + timedelta(minutes=minutes)
        except OverflowError:  # 32-bit floats round beyond the calendar, by hours at its ends
            date = datetime.max if days > 0 else datetime.min
        return date.isoformat(" ", "minutes") if has_hours else date.date().isoformat()

    def remarks(self, table: RawTable) -> list[str]:
        """Missing cells, where training had none, and days far outside the training range."""
        said = []
        missing = int(table.column(self.name).is_missing.sum())
        if missing and not self.has_indicator:
            given = "imputed with the training median"
            said.append(f"{self.name}: {missing} missing, none in training; {given}")
        days = self.parts.get("days")
        if days is not None and days.high is not None:
            dates = dates_of(table, self.name, self.form)
            far = int(days.far_outside(_values(dates, "days", self.first)).sum())
            last = self.first + min(timedelta(days=days.high), datetime.max - self.first)
            rows = "1 row lies" if far == 1 else f"{far} rows lie"
            span = f"{self.first.date().isoformat()} to {last.date().isoformat()}"
            said += [f"{self.name}: {rows} far outside the training range {span}"] if far else []
        return said

    def note(self, missing: int) -> str:
        """The parts that were taken; one day that is written in two ways has none."""
        parts = ", ".join(_WORDS[part] for part in self.parts) or "nothing, all are the same"
        gone = f"; {missing} missing (training medians, with an indicator column)"
        return f"date -> {parts}{gone if missing else ''}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "form": self.form,
            "first": self.first.isoformat(),
            "parts": {part: asdict(scaling) for part, scaling in self.parts.items()},
            "has_indicator": self.has_indicator,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "DateFeature":
        """The feature that `to_json` gave."""
        return cls(
            name=values["name"],
            form=values["form"],
            first=datetime.fromisoformat(values["first"]),
            parts={part: Scaling(**scaling) for part, scaling in values["parts"].items()},
            has_indicator=values["has_indicator"],
        )


def _varies(part: str, scaling: Scaling) -> bool:
    return scaling.std >= YEAR_VARIES if part == "year" else scaling.std > 0


def _values(dates: Sequence[datetime | None], part: str, first: datetime) -> NDArray[np.float64]:
    known = {date: date_part(date, part, first) for date in set(dates) if date is not None}
    return np.array([math.nan if date is None else known[date] for date in dates])
