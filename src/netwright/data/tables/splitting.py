"""Which rows of a table train, choose and test: by a column of the table, or held out by chance."""

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Tensor

from netwright.core.config import Doc
from netwright.core.errors import DataError
from netwright.data.source import DataConfig
from netwright.data.split import hold_out
from netwright.data.tables.cells import category_key, shortened
from netwright.data.tables.raw_table import RawTable

AUTOMATIC = "split"
SPLITS = ("train", "val", "test")
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("train", "training", "0.0"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev", "1.0"), "val"),
    **dict.fromkeys(("test", "2.0"), "test"),
}
# Only where the column was named by the user: "train" TRUE or FALSE, as R's tables have it.
_YES_NO_WORDS = {**_WORDS, "true": "train", "false": "test"}

Division = dict[str, Tensor]
SplitColumn = Annotated[
    str | None, Doc("the column with the split; a column named 'split' is used automatically")
]


class Divided(NamedTuple):
    """The rows of each part, a sentence on how they were found, and whether the test is given."""

    division: Division
    note: str
    test_is_given: bool


def find_split_column(table: RawTable, named: str | None) -> str | None:
    """The column that divides the rows: the named one, else "split" where its values say so."""
    if named is not None:
        table.column(named)
        return named
    texts = table.column(AUTOMATIC).counts() if AUTOMATIC in table.columns else {}
    fits = bool(texts) and all(_key(text) in _WORDS for text in texts)
    return AUTOMATIC if fits else None


def divide_by_column(table: RawTable, column: str, *, named: bool) -> Division:
    """The rows of each split that the column names.

    Args:
        table: the rows.
        column: holds train, val (valid, validation, dev) and test, or 0, 1 and 2.
        named: whether the user named it; then TRUE (train) and FALSE (test) are read too.
    """
    words = _YES_NO_WORDS if named else _WORDS
    codes, texts = table.column(column).coded
    named_splits = [words.get(_key(text)) for text in texts]
    parts = np.array([-1 if one is None else SPLITS.index(one) for one in named_splits])[codes]
    for row in np.flatnonzero(parts < 0):
        cell = texts[codes[row]]
        got = shortened(cell) if cell else "a missing cell"
        raise table.refusal(int(row), column, f"{got} is not a split, wanted train, val or test")
    found = {name: torch.from_numpy(np.flatnonzero(parts == i)) for i, name in enumerate(SPLITS)}
    if not len(found["train"]):
        raise DataError(f"{table.name}: column {column!r} leaves no training rows")
    return found


def divide_by_settings(
    table: RawTable,
    config: DataConfig,
    split_column: str | None,
    *,
    classes: Tensor | None = None,
    group_column: str | None = None,
) -> Divided:
    """The rows of train, val and test: by a column that is named or found, else by chance."""
    found = find_split_column(table, split_column)
    division, note = divide(
        table,
        found,
        named=split_column is not None,
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
        classes=classes,
        group_column=group_column,
    )
    return Divided(division, note, found is not None and len(division["test"]) > 0)


def divide(
    table: RawTable,
    split_column: str | None,
    *,
    named: bool,
    val_size: float,
    test_size: float,
    seed: int,
    classes: Tensor | None,
    group_column: str | None = None,
) -> tuple[Division, str]:
    """The rows of train, val and test, and a sentence on how they were found.

    A column that names no validation rows leaves `val_size` of its training rows to chance.
    """
    groups = None if group_column is None else groups_of(table, group_column)
    if split_column is None:
        train, val, test = hold_out(
            len(table),
            val_size=val_size,
            test_size=test_size,
            seed=seed,
            classes=classes,
            groups=groups,
        )
        found = {"train": train, "val": val, "test": test}
        if not val_size and not test_size:
            return found, f"rows: {_counted(found)}"
        how = "held out at random" if classes is None else "held out at random, stratified by class"
        how = how if groups is None else f"held out by group, column {group_column!r}"
        return found, f"rows: {_counted(found)} ({how})"
    found = divide_by_column(table, split_column, named=named)
    sentence = f"rows: {_counted(found)} (column {split_column!r})"
    if len(found["val"]) or not val_size:
        return found, sentence
    rows = found["train"]
    train, val, _ = hold_out(
        len(rows),
        val_size=val_size,
        test_size=0,
        seed=seed,
        classes=None if classes is None else classes[rows],
        groups=None if groups is None else groups[rows],
    )
    found = {"train": rows[train], "val": rows[val], "test": found["test"]}
    return found, f"{sentence}; {len(val)} of the training rows are held out for validation"


def check_groups_apart(
    table: RawTable, division: Division, group_column: str | None, split_column: str | None
) -> None:
    """Refuse a column of splits that puts rows of one group into two of them: their answers leak.

    Args:
        table: the rows.
        division: the rows of each part.
        group_column: the column of groups that the user named, or None.
        split_column: the column that divides the rows; None: they are held out by group.
    """
    if group_column is None or split_column is None:
        return
    groups = groups_of(table, group_column)
    for first, second in combinations(division, 2):
        rows = division[second]
        shared = rows[torch.isin(groups[rows], groups[division[first]])]
        if len(shared):
            cell = shortened(table.column(group_column)[int(shared[0])])
            raise DataError(
                f"{table.name}: rows of group {cell} of column {group_column!r} are in {first} and "
                f"in {second} by column {split_column!r}; leave out the groups, or that column"
            )


def groups_of(table: RawTable, column: str) -> Tensor:
    """The group of each row (N,), numbered; a missing one is refused by its place."""
    cells = table.column(column)
    for row in np.flatnonzero(cells.is_missing):
        raise table.refusal(int(row), column, "the group is missing")
    _, firsts, places = np.unique(cells.coded.codes, return_index=True, return_inverse=True)
    return torch.from_numpy(np.argsort(np.argsort(firsts))[places])  # numbered as they come


def _key(text: str) -> str:
    return category_key(text).lower()


def _counted(found: Division) -> str:
    return ", ".join(f"{len(rows)} {name}" for name, rows in found.items() if len(rows))
