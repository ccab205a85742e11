"""The columns of a table or an array as they came: missing cells, constants, numbers of rows.

Loaders fill in, leave out or refuse such columns; here they are only counted.

Shapes: N rows, F columns.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netwright.core.finding import Finding
from netwright.data.checkup.wording import first_few
from netwright.data.tables.columns import GivenKind, forced_column, infer_column
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

LEAST_MISSING = 0.01  # share of the cells of a column
MOSTLY = 0.5  # share of missing cells above which a column is better left out
LEAST_ROWS = 10  # fewer whole numbers may be consecutive by chance

LeaveOut = Callable[[Sequence[str]], str]  # columns -> how the source is loaded without them


@dataclass(frozen=True, kw_only=True)
class Column:
    """What was seen of one column.

    Args:
        name: what it is called.
        missing: the share of its cells that are missing.
        is_constant: whether it has one value only.
        is_id: whether it only tells rows apart: a number of the row, or a name for each.
        is_left_out: whether the loader leaves it out by itself.
        doubt: why it may be one of numbers, where it is taken for a category.
        remedy: the option that leaves rows without it out, where loading needs all its cells.
    """

    name: str
    missing: float
    is_constant: bool = False
    is_id: bool = False
    is_left_out: bool = False
    doubt: str = ""
    remedy: str = ""


def table_columns(
    table: RawTable, names: Sequence[str], types: Mapping[str, GivenKind], *, is_in_time: bool
) -> tuple[Column, ...]:
    """The columns of a table that are learned from, all rows of it.

    Args:
        table: as it was read.
        names: the columns.
        types: kinds that the user gave.
        is_in_time: whether rows follow each other in time, so that columns may well go up.
    """
    seen = tuple(_seen(table, name, types.get(name)) for name in names)
    if is_in_time or len(names) == 1:  # the only column is all there is to learn from
        return tuple(replace(column, is_id=False) for column in seen)
    return seen


def needed_column(table: RawTable, name: str, remedy: str) -> Column:
    """A column that is predicted, or read as text: only its missing cells matter."""
    return Column(name=name, missing=table.column(name).count("") / len(table), remedy=remedy)


def array_columns(values: NDArray[np.floating], names: Sequence[str]) -> tuple[Column, ...]:
    """The columns of an array (N, F); NaN is missing."""
    gone = np.isnan(values)
    return tuple(
        Column(
            name=name,
            missing=float(gone[:, place].mean()),
            is_constant=bool((values[:, place] == values[0, place]).all()),
            is_id=values.shape[1] > 1 and counts_rows(values[:, place]),
        )
        for place, name in enumerate(names)
    )


def counts_rows(values: NDArray[np.floating]) -> bool:
    """Whether these are the whole numbers from 0 or 1 on, each once, in any order.

    Numbers that only go up may be a year or a size, in a file that is sorted by it.
    """
    if len(values) < LEAST_ROWS or not bool((values == np.trunc(values)).all()):  # NaN is not
        return False
    first = int(values.min())
    return first in {0, 1} and len(np.unique(values)) == len(values) == int(np.ptp(values)) + 1


def _seen(table: RawTable, name: str, given: GivenKind | None) -> Column:
    column = TrainingColumn(table, name, range(len(table)))
    found = infer_column(column) if given is None else forced_column(column, given)
    is_counter = given is None and column.numbers is not None and counts_rows(column.numbers)
    return Column(
        name=name,
        missing=column.missing / len(table),
        is_constant=found.kind == "constant",
        is_id=found.kind == "id" or is_counter,
        is_left_out=found.kind in {"constant", "empty", "id"},
        doubt=found.remark if found.kind == "category" else "",
    )


def find_constant_columns(
    columns: Sequence[Column], leave_out: LeaveOut, see: str
) -> Finding | None:
    """Columns that say the same of every row."""
    same = [column for column in columns if column.is_constant]
    if not same:
        return None
    sentence = f"{_have(same)} one value in all rows, so nothing can be learned from "
    return Finding(
        illness="constant-column",
        sentence=sentence + _it(same),
        fix=_fix(same, leave_out, "check whether that is intended"),
        see=see,
    )


def find_id_columns(columns: Sequence[Column], leave_out: LeaveOut, see: str) -> Finding | None:
    """Columns that only tell rows apart; those that would be learned from come first."""
    ids = [column for column in columns if column.is_id]
    learned = [column for column in ids if not column.is_left_out]
    if not ids:
        return None
    shown = learned or ids
    sentence = f"{_have(shown)} a different value in every row"
    kind = shlex.quote(f"data.types.{shown[0].name}=category")
    fix = _fix(shown, leave_out, f"to use it, give --set {kind}")
    if learned:
        sentence += (
            f", and {'looks' if len(shown) == 1 else 'look'} like a row identifier: rows can be "
            f"memorised from {_it(shown)}, but it does not generalise"
        )
        fix += "; keep measured values"
    return Finding(illness="id-like-column", sentence=sentence, fix=fix, see=see)


def find_doubted_categories(columns: Sequence[Column], see: str) -> Finding | None:
    """Columns of categories that were perhaps meant to be numbers: one word does it."""
    doubted = [column for column in columns if column.doubt]
    if not doubted:
        return None
    shown = first_few([f"{column.name!r} ({column.doubt})" for column in doubted])
    kind = shlex.quote(f"data.types.{doubted[0].name}=category")
    return Finding(
        illness="numbers-as-categories",
        sentence=f"what may be numbers or dates is taken for categories: {shown}",
        fix=f"Mend those cells, or say how they are to be read; to keep categories, --set {kind}",
        see=see,
    )


def find_missing_values(columns: Sequence[Column], leave_out: LeaveOut, see: str) -> Finding | None:
    """Columns with missing cells beyond a small share; where all are needed, any."""
    gaps = [one for one in columns if one.missing > (0 if one.remedy else LEAST_MISSING)]
    if not gaps:
        return None
    gaps.sort(key=lambda column: -column.missing)
    shares = [f"{column.name!r} {column.missing:.1%}" for column in gaps]
    fix = "Find out why they are missing, and fill in known values"
    mostly = [one.name for one in gaps if one.missing > MOSTLY and not one.is_left_out]
    if mostly:
        fix += f"; to drop a column that is mostly empty: {leave_out(mostly)}"
    remedies = [column.remedy for column in gaps if column.remedy]
    if remedies:
        fix = f"Give {' '.join(dict.fromkeys(remedies))}: such rows cannot be learned from"
    return Finding(
        illness="missing-values",
        sentence=f"cells are missing in {len(gaps)} of {len(columns)} columns: {first_few(shares)}",
        fix=fix,
        see=see,
    )


def _have(columns: Sequence[Column]) -> str:
    names = first_few([repr(column.name) for column in columns])
    return f"column {names} has" if len(columns) == 1 else f"the columns {names} have"


def _it(columns: Sequence[Column]) -> str:
    return "it" if len(columns) == 1 else "them"


def _fix(columns: Sequence[Column], leave_out: LeaveOut, otherwise: str) -> str:
    """How to load without the columns, or what else to do where loading leaves them out."""
    if all(column.is_left_out for column in columns):
        return f"Loading drops {_it(columns)} automatically; {otherwise}"
    names = [column.name for column in columns if not column.is_left_out]
    return f"Drop {_it(columns)}: {leave_out(names)}"
