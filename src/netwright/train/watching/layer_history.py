"""What each layer did at the steps that were watched: how long its gradient, weights and step were.

The text of a history is JSON lines, as in `layers.jsonl` of a run folder: the names of the layers
first, then one line a watched step.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from netwright.core.checks import is_finite_number, nearest
from netwright.core.errors import DataError, UnknownNameError
from netwright.core.files.inside import has_file
from netwright.core.files.json_text import json_value
from netwright.core.files.storage import read_bytes

FILE = "layers.jsonl"  # in a run folder
Numbers = tuple[float | None, ...]
Measured = Literal["gradient", "weight", "update", "dead", "saturated"]


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """One watched step; the numbers are one a layer.

    Args:
        step: updates made, with this one.
        epoch: passes made before it.
        loss: of its batch; where several processes train, of the part of the first.
        gradient: length of the gradient, before it is clipped; None: the layer did not learn.
        weight: length of the weights, after the step.
        update: length of the step that they made; None: not measured.
        dead: share of the ReLU units that no example of the batch woke; None: it has none.
        saturated: share of what sigmoid or tanh put out where they are flat; None: it has none.
            Both are empty at steps where nobody looked.
    """

    step: int
    epoch: int
    loss: float
    gradient: Numbers
    weight: Numbers
    update: Numbers
    dead: Numbers = ()
    saturated: Numbers = ()

    @property
    def step_ratio(self) -> float:
        """The length of the step beside that of the weights, of the layer in the middle."""
        ratios = [
            update / weight
            for update, weight, gradient in zip(
                self.update, self.weight, self.gradient, strict=True
            )
            if update is not None and weight and gradient is not None
        ]
        return median(ratios) if ratios else 0.0

    @property
    def whole_gradient(self) -> float:
        """The length of the gradient of all layers together."""
        return math.hypot(*(part for part in self.gradient if part is not None))

    @property
    def beside_longest_behind(self) -> Numbers:
        """Of each layer, its gradient beside the longest of those behind it; None: it has none."""
        shares: list[float | None] = []
        longest = 0.0
        for gradient in reversed(self.gradient):
            shares.append(gradient / longest if gradient and longest else None)
            longest = max(longest, gradient or 0.0)
        return tuple(reversed(shares))

    @property
    def began_at_zero(self) -> bool:
        """Whether the weights of a layer are what this step made of them, so that it looks long."""
        steps = zip(self.update, self.weight, strict=True)
        return any(update == weight and bool(update) for update, weight in steps)


class LayerHistory:
    """All watched steps of a run, in order; empty where nobody watched.

    Args:
        layers: the paths of the modules with weights of their own, in the order in which they
            first run.
        rows: one a watched step.
    """

    def __init__(self, layers: Sequence[str] = (), rows: Sequence[LayerRow] = ()) -> None:
        self.layers, self.rows = tuple(layers), list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LayerRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"LayerHistory({len(self.layers)} layers at {len(self)} steps)"

    @property
    def steps(self) -> list[int]:
        """The steps that were watched."""
        return [row.step for row in self.rows]

    def series(self, name: Measured, layer: str) -> list[float | None]:
        """One measure of one layer, a number a watched step; None where it was not measured."""
        if layer not in self.layers:
            hint = nearest(layer, self.layers) or f"; there are {', '.join(self.layers)}"
            raise UnknownNameError(f"unknown layer {layer!r}{hint}")
        place = self.layers.index(layer)
        measured: list[Numbers] = [getattr(row, name) for row in self.rows]
        return [numbers[place] if numbers else None for numbers in measured]

    def to_text(self) -> str:
        """All of it, as JSON lines."""
        return _as_line({"layers": self.layers}) + self.lines_from(0) if self.layers else ""

    def lines_from(self, start: int) -> str:
        """The lines of the rows from this one on: what a file that has the others lacks."""
        return "".join(_as_line(vars(row)) for row in self.rows[start:])

    @classmethod
    def from_text(cls, text: str, source: str = "the text") -> "LayerHistory":
        """What `to_text` gave; a last line cut short by a kill is left out.

        Args:
            text: JSON lines.
            source: where it comes from, for the refusal.
        """
        layers: Sequence[str] = ()
        rows: list[LayerRow] = []
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            try:
                if number == 1 and line:
                    layers = _layers(json_value(line))
                elif line:
                    rows.append(_row(json_value(line), len(layers)))
            except (ValueError, TypeError, KeyError, AttributeError):
                if number == len(lines):  # no line end after it: it was being written
                    break
                raise DataError(f"{source}:{number} is not a row of a layer history") from None
        return cls(layers, rows)


def read_layer_history(path: Path) -> LayerHistory:
    """The history in a file; empty where there is none."""
    if not has_file(path):
        return LayerHistory()
    text = read_bytes(path).decode("utf-8", errors="replace")  # which is no row either
    return LayerHistory.from_text(text, str(path))


def _as_line(values: dict[str, Any]) -> str:
    return json.dumps(values, allow_nan=False) + "\n"


def _layers(values: dict[str, Any]) -> list[str]:
    """The names in the first line."""
    layers: list[str] = values["layers"]
    if not (isinstance(layers, list) and all(isinstance(name, str) for name in layers)):
        raise TypeError("names of layers")
    return layers


def _row(values: dict[str, Any], layers: int) -> LayerRow:
    """A row from its line; one of other layers, or of what is no number, is refused."""
    numbers = {name: tuple(part) for name, part in values.items() if isinstance(part, list)}
    row = LayerRow(**{**values, **numbers})
    if any(len(part) not in {0, layers} for part in numbers.values()):
        raise ValueError("a number a layer")
    single = (row.step, row.epoch, row.loss)
    every = (row.gradient, row.weight, row.update, row.dead, row.saturated)
    if not all(map(is_finite_number, single)) or not all(isinstance(part, tuple) for part in every):
        raise TypeError("numbers")
    if not all(one is None or is_finite_number(one) for part in every for one in part):
        raise TypeError("numbers")
    return row
