"""The metrics of a run for each group of the rows of a table, by the values of a column.

A metric over all rows hides groups for which a model is much worse. The column may be one that the
model never saw: it is read from the table that is given. Numbers and dates with many values are cut
at their quartiles.

Shapes: N rows.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from netwright.core.errors import ConfigError
from netwright.data.tables.cells import as_date, fitting_date_forms
from netwright.data.tables.encoding import TableEncoder
from netwright.metrics.metric_text import metric_text
from netwright.train.evaluate import evaluate

if TYPE_CHECKING:
    from netwright.recipes.run.run import Run

MOST_GROUPS = 20  # the largest; the others are "other"
FEW_NUMBERS = 10  # with more, numbers are cut at quartiles
DAY = timedelta(days=1)
OTHER, MISSING = "other", "missing"


@dataclass(frozen=True, kw_only=True)
class GroupMetrics:
    """The metrics of all rows and of each group: quarters in their order, else the largest first.

    Args:
        column: by whose values the rows are divided.
        rows: group -> how many.
        metrics: group -> its metrics.
        whole: the metrics of all rows.
    """

    column: str
    rows: dict[str, int]
    metrics: dict[str, dict[str, float]]
    whole: dict[str, float]

    def table_rows(self) -> list[dict[str, str]]:
        """One row a group and one for all, as a person reads it."""
        every = [("all", sum(self.rows.values()), self.whole)]
        every += [(name, self.rows[name], self.metrics[name]) for name in self.rows]
        return [
            {self.column: name, "rows": f"{count:,}"}
            | {
                metric: metric_text(found[metric]) if metric in found else "-"
                for metric in self.whole
            }
            for name, count, found in every
        ]


def evaluate_groups(
    run: "Run", column: str, data: Any = None, *, split: str | None = None
) -> GroupMetrics:
    """Measure a run on each group of rows.

    Args:
        run: of a table.
        column: of the data; without data, one that was learned from.
        data: a table with the target columns; None is the run's own data.
        split: train, val or test of the run's own data; by default what `results` tell of.
    """
    encoder = run.preprocessor
    if not isinstance(encoder, TableEncoder):
        raise ConfigError("groups are by a column of a table, this run has learned from none")
    if data is None:
        examples = run.examples(split=split)
        learned = [feature.name for feature in encoder.features]
        if column not in learned:
            raise ConfigError(
                f"{column!r} was not learned from, so the run does not hold it: give the table "
                f"that has it, or one of {', '.join(learned[:12])}"
            )
        cells = [row[column] for row in encoder.decode(examples.inputs.cpu())]
        cells = ["" if cell == MISSING else cell for cell in cells]
    else:
        table = encoder.read_labelled(data)
        cells = list(table.column(column))
        examples = run.examples(table)
    names, ordered = _groups(cells)
    device = examples.targets.device
    return GroupMetrics(
        column=column,
        rows={name: int((names == name).sum()) for name in ordered},
        metrics={
            name: evaluate(
                run.model,
                examples.take(torch.from_numpy(np.flatnonzero(names == name)).to(device)),
                run.task,
            )
            for name in ordered
        },
        whole=run.evaluate(examples),
    )


def _groups(cells: list[str]) -> tuple[NDArray[np.str_], list[str]]:
    """The name of the group of each row (N,), and all names in the order in which they are told."""
    names = np.array([cell or MISSING for cell in cells], dtype=np.str_)
    for found, written in ((_numbers(cells), _number), (_days(cells), _date)):
        if found is not None and len(np.unique(found[~np.isnan(found)])) > FEW_NUMBERS:
            names, ordered = _quarters(found, written)
            return names, [name for name in ordered if (names == name).any()]
    kept, counts = np.unique(names, return_counts=True)
    if len(kept) > MOST_GROUPS:
        largest = kept[np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1]]
        names = np.where(np.isin(names, largest), names, OTHER)
        kept, counts = np.unique(names, return_counts=True)
    return names, kept[np.argsort(-counts, kind="stable")].tolist()


def _numbers(cells: list[str]) -> NDArray[np.float64] | None:
    try:
        numbers = np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return None
    return None if np.isinf(numbers).any() else numbers


def _days(cells: list[str]) -> NDArray[np.float64] | None:
    """Dates as days from the first of the calendar (N,); None where it is unclear what they are."""
    counts = Counter(filter(None, cells))
    forms = fitting_date_forms(counts) if counts else []
    known = {cell: as_date(cell, forms[0]) for cell in counts} if len(forms) == 1 else {"": None}
    if None in known.values():
        return None
    days = {cell: (date - datetime.min) / DAY for cell, date in known.items() if date is not None}
    return np.array([days.get(cell, np.nan) for cell in cells])


def _number(value: float) -> str:
    return f"{value:.6g}"


def _date(days: float) -> str:
    return (datetime.min + timedelta(days=days)).date().isoformat()


def _quarters(
    numbers: NDArray[np.float64], written: Callable[[float], str]
) -> tuple[NDArray[np.str_], list[str]]:
    """Which quarter of the rows each number is in, by its bounds; equal numbers are together."""
    bounds = np.unique(np.nanquantile(numbers, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf"))
    names = [f"{written(low)} to {written(high)}" for low, high in pairwise(bounds.tolist())]
    places = np.searchsorted(bounds[1:-1], numbers, side="left")
    found = np.array(names, dtype=np.str_)[np.minimum(places, len(names) - 1)]
    return np.where(np.isnan(numbers), MISSING, found), [*names, MISSING]
