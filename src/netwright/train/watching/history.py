"""The numbers of a run: one row a measurement, with every axis one may want to plot against."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.checks import is_finite_number, nearest
from netwright.core.errors import DataError
from netwright.core.files.json_text import json_value
from netwright.core.files.storage import append_text, read_bytes, write_text
from netwright.inspection.drawing.wording import short_name
from netwright.inspection.training.curves import measure_curves

STEP = "step"  # the split of rows by step
_as_json = json.JSONEncoder(allow_nan=False).encode  # `json.dumps` makes an encoder a row
CLOCKED = frozenset({"samples_per_second", "tokens_per_second", "memory"})  # no two runs agree


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement.

    Args:
        step: updates so far.
        epoch: passes so far.
        samples: examples seen so far.
        time: seconds of training so far.
        split: train, val or test; or step, for what is noted every few updates of training.
        name: loss, accuracy ...; of split step the mean loss since the row before, lr,
            gradient_norm before clipping, samples_per_second or tokens_per_second, and memory, the
            most so far in MiB, of the device on CUDA, else of the process.
        value: a finite number.
    """

    step: int
    epoch: int
    samples: int
    time: float
    split: str
    name: str
    value: float

    @property
    def key(self) -> str:
        """Split and name: "val/loss"."""
        return f"{self.split}/{self.name}"


class History:
    """All rows of a run, in order."""

    def __init__(self, rows: list[Row] | None = None) -> None:
        self.rows: list[Row] = rows or []

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        names = f": {short_name(', '.join(self.keys()), 80)}" if self.rows else ""
        return f"History({len(self)} rows{names})"

    def _repr_html_(self) -> str:
        return measure_curves(self.rows).small()._repr_html_() if self.rows else "an empty history"

    def series(self, key: str) -> list[float]:
        """The values of "val/loss", one a measurement; of an empty history none.

        A name that was never measured among others is refused.
        """
        split, _, name = key.partition("/")
        values = [row.value for row in self.rows if (row.split, row.name) == (split, name)]
        if self.rows and not values:
            hint = nearest(key, self.keys()) or f"; there are {', '.join(self.keys())}"
            raise DataError(f"there is no metric {key!r}{hint}")
        return values

    def latest(self, key: str) -> float:
        """The newest value of "val/loss"; refused where there is none."""
        return self.last_row(key).value

    def last_row(self, key: str) -> Row:
        """The newest row of "val/loss"; refused where there is none."""
        row = self._newest(key)
        if row is None:
            self.series(key)  # refuses a name that is not among others
            raise DataError(f"there is no metric {key!r}: the history is empty")
        return row

    def measures(self, key: str) -> bool:
        """Whether "val/loss" was ever measured; asked each epoch, so looked for from the end."""
        return self._newest(key) is not None

    def _newest(self, key: str) -> Row | None:
        split, _, name = key.partition("/")
        for row in reversed(self.rows):
            if row.name == name and row.split == split:
                return row
        return None

    def has(self, split: str) -> bool:
        """Whether anything was measured on a split."""
        return any(row.split == split for row in self.rows)

    def keys(self) -> list[str]:
        """What was measured: "train/loss", "val/loss" ..."""
        found = dict.fromkeys((row.split, row.name) for row in self.rows)
        return [f"{split}/{name}" for split, name in found]

    def as_dict(self) -> dict[str, list[float]]:
        """Every series by its name."""
        return {key: self.series(key) for key in self.keys()}


def read_row(values: Any) -> Row:
    """The row of these values, as `vars` gave them; a ValueError where they are of other kinds."""
    row = Row(**values)
    counts = (row.step, row.epoch, row.samples)
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("its counts must be non-negative integers")
    if not all(map(is_finite_number, (row.time, row.value))):
        raise ValueError("its time and value must be finite numbers")
    if not (isinstance(row.split, str) and isinstance(row.name, str)):
        raise ValueError("its split and name must be text")
    return row


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Replace a JSON-lines file by these rows, in one step."""
    write_text(path, "".join(_line(row) for row in rows))


def append_rows(path: Path, rows: Sequence[Row]) -> None:
    """Add rows to a JSON-lines file, one line each."""
    append_text(path, "".join(_line(row) for row in rows))


def read_history(path: Path) -> History:
    """The history that `append_rows` wrote; a last line cut short by a kill is left out."""
    rows = []
    try:
        content = read_bytes(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    lines = content.decode("utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            rows.append(read_row(json_value(line)))
        except (ValueError, TypeError):
            if number == len(lines):  # no line end after it: it was being written
                break
            raise DataError(f"{path}:{number} is not a row of a history") from None
    return History(rows)


def without_clock(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's values but for those that two equal runs do not share: times, speed and memory."""
    clocked = {"time", "value"} if row["name"] in CLOCKED else {"time"}
    return {name: value for name, value in row.items() if name not in clocked}


def _line(row: Row) -> str:
    return _as_json(vars(row)) + "\n"
