"""The encoder of a series: rows of a table, in the order of time, become windows of the past.

With r the last row that is known, and horizon h, one window is

    x_s = [features at s, known columns at r + h],     s = r - T + 1 .. r,     target at r + h

so nothing is read that is not there when the forecast is made: known columns (the day of the week)
are those whose value at the forecast time is no secret.

Shapes: R rows, T steps of a window, N = R - T - h + 1 windows, F numbers of a step.
Source: Box and Jenkins, "Time Series Analysis: Forecasting and Control" (1970).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.encoder_checks import check_positive, check_sizes
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.time_order import check_forward
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.tables.raw_table import RawTable

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class SeriesEncoder(Preprocessor):
    """Rows in the order of time -> windows, exactly as the training rows were encoded.

    It takes a file, a frame or a list of rows, and gives one window for each row that has enough
    rows before it. To forecast what comes after the last row, add a row without values (with its
    known columns, where there are some).

    Args:
        past: encodes the columns whose past is read, and the target.
        known: encodes the columns that are known beforehand; None where there are none.
        window: steps that are looked back on, T.
        horizon: how many rows after the last known one the target stands, h.
        time: the column that has to go forward; None where there is none.
    """

    kind: ClassVar[str] = "series"

    past: TableEncoder
    known: TableEncoder | None = None
    window: int
    horizon: int = 1
    time: str | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each number of a step."""
        return self.past.feature_names + (self.known.feature_names if self.known else ())

    @property
    def input_shape(self) -> tuple[int, int]:
        """(T, F)."""
        return self.window, len(self.feature_names)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes in the order of the outputs; empty for reals."""
        return self.past.class_names

    def reading(self, **settings: str) -> "SeriesEncoder":
        """The same for files that are written otherwise."""
        return replace(self, past=self.past.reading(**settings))

    def read_labelled(self, source: Any) -> RawTable:
        """The source as a raw table; it has the targets beside what is learned from."""
        table = self.read(source)
        table.check_columns(self.past.target.columns)
        return table

    def read(self, source: Any) -> RawTable:
        """The source as a raw table whose times go forward and that has a window at least."""
        table = self.past.read(source)
        known = self.known.features if self.known else ()
        time = [] if self.time is None else [self.time]
        table.check_columns([*(one.name for one in (*self.past.features, *known)), *time])
        if self.time is not None:
            check_forward(table, self.time)
        if len(table) < self.first_row + 1:
            raise DataError(
                f"{table.name}: a forecast needs {self.first_row} rows before it, "
                f"got {len(table)} rows in all"
            )
        return table

    @property
    def first_row(self) -> int:
        """The first row that has enough rows before it to be forecast."""
        return self.window + self.horizon - 1

    def encode(self, source: Any) -> Tensor:
        """Windows (N, T, F) float32, in the order of time."""
        table = self.read(source)
        past = self.past.encode(self._observed(table))
        windows = past.unfold(0, self.window, 1).transpose(1, 2)  # a view, (N, T, F)
        if self.known is None:
            return windows
        known = self.known.encode(self._forecast(table))[:, None]  # (N, 1, F)
        return torch.cat((windows, known.expand(-1, self.window, -1)), dim=2)

    def encode_targets(self, source: Any) -> Tensor:
        """The targets of the rows that are forecast: class indices (N,), or reals (N, K)."""
        return self.past.target.encode(self._forecast(self.read(source)))

    def persistence(self, inputs: Tensor) -> Tensor | None:
        """The last known targets (N, K), in their own units: the forecast that nothing changes.

        Args:
            inputs: windows (N, T, F).

        None where the past of a target is not read, or where it is no number.
        """
        names, (offset, scale) = self.past.feature_names, self.past.units()
        numbers = {one.name for one in self.past.features if isinstance(one, NumberFeature)}
        targets = self.past.target.columns
        if not numbers.issuperset(targets) or not set(names).issuperset(targets):
            return None
        places = [names.index(name) for name in targets]
        last = inputs[:, -1].cpu().double()
        return (last[:, places] * scale[places] + offset[places]).float()

    def remarks(self, source: Any) -> tuple[str, ...]:
        """What new rows have that training did not: unseen categories, new missing cells."""
        table = self.read(source)
        said = self.past.remarks(self._observed(table))
        return said + (self.known.remarks(self._forecast(table)) if self.known else ())

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset and scale of every number of a window, step after step (T F,), float64."""
        parts = [self.past.units(), *([self.known.units()] if self.known else [])]
        offset, scale = (torch.cat(part).repeat(self.window) for part in zip(*parts, strict=True))
        return offset, scale

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """The last step of each window: each cell by its column."""
        last, width = inputs[:, -1], len(self.past.feature_names)
        rows = self.past.decode(last[:, :width])
        if self.known is None:
            return rows
        named = [
            {f"{name} (forecast)": cell for name, cell in row.items()}
            for row in self.known.decode(last[:, width:])
        ]
        return [row | known for row, known in zip(rows, named, strict=True)]

    def check_numbers(self) -> None:
        """Refuse a window or a horizon that no series has, and what its tables refuse."""
        self.past.check_numbers()
        if self.known is not None:
            self.known.check_numbers()
        check_sizes("window", *self.input_shape)
        check_positive("horizon", self.horizon)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return {
            "format": FORMAT,
            "past": self.past.to_json(),
            "known": self.known and self.known.to_json(),
            "window": self.window,
            "horizon": self.horizon,
            "time": self.time,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "SeriesEncoder":
        """The encoder that `to_json` gave."""
        if values.get("format") != FORMAT:
            got = values.get("format")
            raise DataError(f"a series encoder must have format {FORMAT}, got {got!r}")
        known = values["known"]
        return cls(
            past=TableEncoder.from_json(values["past"]),
            known=TableEncoder.from_json(known) if known is not None else None,
            window=values["window"],
            horizon=values["horizon"],
            time=values["time"],
        )

    def _observed(self, table: RawTable) -> RawTable:
        """The rows that some window reads: not the last ones, which are only forecast."""
        return table.take(range(len(table) - self.horizon))

    def _forecast(self, table: RawTable) -> RawTable:
        """The rows that are forecast, one a window."""
        return table.take(range(self.first_row, len(table)))
