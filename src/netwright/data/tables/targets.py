"""The target columns of a table: one class, several labels, or reals in their own units.

Shapes: N rows, K outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, DataError
from netwright.data.coarse_targets import check_not_coarse
from netwright.data.spec import ClassType
from netwright.data.tables.cells import (
    category_key,
    check_commas,
    check_points,
    distinct_categories,
    in_order,
    numbers_of,
    one_number_form,
    share_of,
    shortened,
)
from netwright.data.tables.columns import reads_like_text, written_as
from netwright.data.tables.doubts.doubted_texts import case_hint, number_hint, spaced_thousands
from netwright.data.tables.number_form import PERCENT, NumberForm, read_form
from netwright.data.tables.number_marks import CLEAR_SHARE, as_number
from netwright.data.tables.raw_table import RawTable, listed

TableTarget = Literal["class", "real", "labels"]
# Whole numbers with at most so many different values are classes.
FEW_VALUES = 20
_YES = frozenset({"1.0", "yes", "y", "true", "t"})
_NO = frozenset({"0.0", "no", "n", "false", "f"})


@dataclass(frozen=True, kw_only=True)
class TargetEncoder:
    """Target columns <-> tensors.

    Args:
        kind: class, real or labels.
        columns: the target columns.
        class_names: the classes in order, the label columns, or nothing for reals.
        forms: of reals, how each column is written, where one is not plain; else none.
    """

    kind: TableTarget
    columns: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    forms: tuple[NumberForm | None, ...] = ()

    @classmethod
    def fit(
        cls, table: RawTable, columns: tuple[str, ...], kind: Literal["auto"] | TableTarget
    ) -> "TargetEncoder":
        """Find the kind and the classes; all rows are read, none may lack a target."""
        forms = _forms(table, columns) if kind in {"auto", "real"} else ()
        found = infer_target(table, columns, forms) if kind == "auto" else kind
        if found == "real":
            for column in columns if kind == "auto" else ():
                check_points(table, column, range(len(table)), "--target-kind real")
            target = cls(kind=found, columns=columns, forms=forms)
            for column in columns:
                values = numbers_of(table, column, target._form(column))
                check_not_coarse(f"{table.name}: the values of {column!r}", values)
            return target
        if found == "labels":
            return cls(kind=found, columns=columns, class_names=columns)
        if len(columns) > 1:
            raise ConfigError(f"a class target is one column, got {listed(columns)}")
        counts = table.column(columns[0]).counts()
        names = in_order(distinct_categories(counts))
        if len(names) > max(FEW_VALUES, len(table) / 2):
            hint = "pairs of texts are read with --set data.name=text-pairs"
            if not reads_like_text(names):
                hint = "" if table.numbers(columns[0]) is not None else number_hint(counts)
            raise DataError(
                f"{table.name}: {columns[0]!r} has {len(names)} distinct values in {len(table)} "
                f"rows, too many for classes{f'; {hint}' if hint else ''}"
            )
        return cls(kind=found, columns=columns, class_names=tuple(names))

    def check_columns(self) -> None:
        """Refuse targets without a column, and a class of several: no training has them."""
        if not self.columns or (self.kind == "class" and len(self.columns) > 1):
            wanted = "one column" if self.kind == "class" else "a column"
            raise DataError(f"a {self.kind} target must have {wanted}, got {len(self.columns)}")

    @property
    def num_outputs(self) -> int:
        """Classes, labels or reals."""
        return len(self.class_names) or len(self.columns)

    def class_type(self, table: RawTable) -> ClassType:
        """What the classes are in the table that was learned from."""
        return table.types.get(self.columns[0], "") if self.kind == "class" else ""

    def check_varies(self, targets: Tensor, name: str) -> None:
        """Refuse reals (N, K) of training rows that are all the same; `name` is the table's."""
        if self.kind == "real" and bool((targets == targets[0]).all(dim=0).any()):
            column = self.columns[int((targets == targets[0]).all(dim=0).nonzero()[0])]
            raise DataError(
                f"{name}: the target {column!r} is constant in the training rows, there is "
                f"nothing to learn"
            )

    def never_trained(self, targets: Tensor) -> list[str]:
        """Classes that are not among those (N,) of the training rows, in a sentence."""
        if self.kind != "class":
            return []
        seen = set(targets.tolist())
        absent = [repr(name) for place, name in enumerate(self.class_names) if place not in seen]
        return [f"{self.columns[0]}: no training row is {listed(absent)}"] if absent else []

    def encode(self, table: RawTable) -> Tensor:
        """Class indices (N,) int64, or labels or reals (N, K) float32."""
        check_present(table, self.columns)
        if self.kind == "class":
            return self._classes(table)
        if self.kind == "labels":
            columns = [_labels(table, column) for column in self.columns]
        else:
            columns = [numbers_of(table, column, self._form(column)) for column in self.columns]
        return torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))

    def note(self, table: RawTable, column: str) -> str:
        """What the target column is."""
        if self.kind == "class":
            shown = listed([shortened(name) for name in self.class_names], 5)
            hint = spaced_thousands(table.column(column).counts()) or case_hint(self.class_names)
            said = f"target, class, {len(self.class_names)} values: {shown}"
            return f"{said}; {hint}" if hint else said
        if self.kind == "labels":
            return "target, label"
        values = numbers_of(table, column, self._form(column))
        form = self._form(column)
        written = f" ({written_as(table, column, range(len(table)), form)})" if form else ""
        return f"target, real, {values.min():.6g} to {values.max():.6g}{written}"

    def to_json(self) -> dict[str, Any]:
        """Plain text and lists."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "class_names": list(self.class_names),
            "forms": [None if form is None else form.to_json() for form in self.forms],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TargetEncoder":
        """The encoder that `to_json` gave."""
        return cls(
            kind=values["kind"],
            columns=tuple(values["columns"]),
            class_names=tuple(values["class_names"]),
            forms=tuple(map(read_form, values.get("forms", []))),  # older runs have none
        )

    def _form(self, column: str) -> NumberForm | None:
        return self.forms[self.columns.index(column)] if self.forms else None

    def _classes(self, table: RawTable) -> Tensor:
        column = self.columns[0]
        codes, texts = table.column(column).coded
        known = {category_key(name): place for place, name in enumerate(self.class_names)}
        classes = np.array([known.get(category_key(text), -1) for text in texts], np.int64)[codes]
        for row in np.flatnonzero(classes < 0):
            cell = texts[codes[row]]
            hint = nearest(cell, self.class_names) or f"; there are {listed(self.class_names)}"
            raise table.refusal(int(row), column, f"{shortened(cell)} is not a known class{hint}")
        return torch.from_numpy(classes)


def _forms(table: RawTable, columns: Sequence[str]) -> tuple[NumberForm | None, ...]:
    """How each column is written; empty where all are plain, or text."""
    rows = range(len(table))
    forms = tuple(
        one_number_form(table, column, rows) if table.numbers(column) is None else None
        for column in columns
    )
    return forms if any(forms) else ()


def infer_target(
    table: RawTable, columns: Sequence[str], forms: Sequence[NumberForm | None] = ()
) -> TableTarget:
    """Text is a class, so are whole numbers with few different values; the rest is real.

    Several targets are reals: labels have to be asked for.

    Args:
        table: all rows.
        columns: the targets.
        forms: how the numbers of each are written; empty where all are plain.
    """
    formed = [column for column, form in zip(columns, forms, strict=bool(forms)) if form]
    unlike = [
        column for column in columns if column not in formed and not _is_numeric(table, column)
    ]
    for column in unlike:
        check_commas(table, column, range(len(table)))
    if len(columns) > 1:
        if not unlike:
            return "real"
        raise DataError(
            f"{table.name}: {unlike[0]!r} is not numeric; several targets must be real, or yes "
            f"and no with --target-kind labels"
        )
    if unlike:
        return "class"
    values = np.unique(numbers_of(table, columns[0], forms[0] if forms else None))
    if forms and forms[0] is not None and forms[0].mark == PERCENT:
        values = np.round(values * 100, 9)  # 50% is as whole as $50
    whole = bool((values == np.trunc(values)).all())
    return "class" if whole and len(values) <= FEW_VALUES else "real"


def _is_numeric(table: RawTable, column: str) -> bool:
    """Whether a column holds numbers; a few cells that are none are left for the refusal."""
    if table.numbers(column) is not None:
        return True
    return share_of(table.column(column).counts(), as_number) >= CLEAR_SHARE


def check_present(table: RawTable, columns: Sequence[str], advice: str = "") -> None:
    """Refuse missing targets: how many, and where the first one is. New rows need no advice."""
    for column in columns:
        rows = np.flatnonzero(table.column(column).is_missing)
        if len(rows):
            texts = list(table.column(column).counts())
            if advice and len(texts) == 1:  # as a form gives it: ticked or not
                advice = f", and otherwise always {shortened(texts[0])}; write what a blank means"
            raise DataError(
                f"{table.name}: {column!r} is missing in {len(rows)} of {len(table)} rows, "
                f"first in {table.row_name(int(rows[0]))}{advice or '; leave such rows out'}"
            )


def _labels(table: RawTable, column: str) -> NDArray[np.float64]:
    codes, texts = table.column(column).coded
    keys = [category_key(text).lower() for text in texts]
    wrong = [place for place, key in enumerate(keys) if key not in _YES and key not in _NO]
    for row in np.flatnonzero(np.isin(codes, wrong)):
        said = f"{shortened(texts[codes[row]])} is not a label, wanted 0/1 or yes/no"
        raise table.refusal(int(row), column, said)
    values: NDArray[np.float64] = np.array([key in _YES for key in keys], np.float64)[codes]
    return values
