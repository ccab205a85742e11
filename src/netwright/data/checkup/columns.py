"""The columns of a table or an array as they came: missing cells, constants, numbers of rows.

Loaders fill in, leave out or refuse such columns; here they are only counted.

Shapes: N rows, F columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netwright.core.finding import Finding
from netwright.data.checkup.check import first_few
from netwright.data.tables.columns import GivenKind, forced_column, infer_column
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn

LEAST_MISSING = 0.01  # share of the cells of a column
LEAST_ROWS = 10  # fewer whole numbers may go up by chance


@dataclass(frozen=True, kw_only=True)
class Column:
    """What was seen of one column.

    Args:
        name: what it is called.
        missing: the share of its cells that are missing.
        is_constant: whether it has one value only, or none.
        is_id: whether it only tells rows apart: a number of the row, or a name for each.
        remedy: the option that leaves rows without it out, where loading needs all its cells.
    """

    name: str
    missing: float
    is_constant: bool = False
    is_id: bool = False
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
            is_constant=bool((values[:, place] == values[0, place]).all() or gone[:, place].all()),
            is_id=values.shape[1] > 1 and counts_rows(values[:, place]),
        )
        for place, name in enumerate(names)
    )


def counts_rows(values: NDArray[np.floating]) -> bool:
    """Whether whole numbers go up from row to row, or are consecutive in any order."""
    if len(values) < LEAST_ROWS or not bool((values == np.trunc(values)).all()):  # NaN is not
        return False
    is_consecutive = len(np.unique(values)) == len(values) == int(np.ptp(values)) + 1
    return is_consecutive or bool((np.diff(values) > 0).all())


def _seen(table: RawTable, name: str, given: GivenKind | None) -> Column:
    column = TrainingColumn(table, name, range(len(table)))
    found = infer_column(column) if given is None else forced_column(column, given)
    is_counter = given is None and column.numbers is not None and counts_rows(column.numbers)
    return Column(
        name=name,
        missing=column.missing / len(table),
        is_constant=found.kind in {"constant", "empty"},
        is_id=found.kind == "id" or is_counter,
    )


def find_constant_columns(columns: Sequence[Column]) -> Finding | None:
    """Columns that say the same of every row."""
    names = [column.name for column in columns if column.is_constant]
    if not names:
        return None
    return Finding(
        illness="constant-column",
        sentence=f"{_columns(names)} one value in all rows, so that nothing is learned from it",
        fix=_leave_out(names),
        see="minimum-norm",
    )


def find_id_columns(columns: Sequence[Column]) -> Finding | None:
    """Columns that only tell rows apart."""
    names = [column.name for column in columns if column.is_id]
    if not names:
        return None
    return Finding(
        illness="id-like-column",
        sentence=f"{_columns(names)} another value in every row, as numbers and names of rows "
        "have: a model can learn rows by heart from it, and knows nothing of new ones",
        fix=_leave_out(names),
        see="double-descent",
    )


def find_missing_values(columns: Sequence[Column]) -> Finding | None:
    """Columns with missing cells beyond a small share; where all are needed, any."""
    gaps = [one for one in columns if one.missing > (0 if one.remedy else LEAST_MISSING)]
    if not gaps:
        return None
    gaps.sort(key=lambda column: -column.missing)
    shares = [f"{column.name!r} {column.missing:.1%}" for column in gaps]
    fix = (
        "Find out why they are missing; a table's numbers get the median and a column that says "
        "so, an array has to be filled by you. A column that is mostly empty is better left out: "
        f"--set data.drop={gaps[0].name}"
    )
    remedies = [column.remedy for column in gaps if column.remedy]
    if remedies:
        fix = f"Give {' '.join(dict.fromkeys(remedies))}: such rows teach nothing"
    return Finding(
        illness="missing-values",
        sentence=f"cells are missing in {len(gaps)} of {len(columns)} columns: {first_few(shares)}",
        fix=fix,
        see="table",
    )


def _columns(names: Sequence[str]) -> str:
    what = "column" if len(names) == 1 else "each of the columns"
    return f"{what} {first_few([repr(name) for name in names])} has"


def _leave_out(names: Sequence[str]) -> str:
    """How a table, and how arrays are handed over without these columns."""
    return f"Leave it out: --set data.drop={','.join(names)}; of an array, take that column away"
