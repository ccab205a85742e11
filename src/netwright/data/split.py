"""Dividing rows: hold-out, stratified and k-fold, each a pure function of its seed.

Source: Kohavi, "A study of cross-validation and bootstrap for accuracy estimation" (1995).
"""

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.data.groups import deal_groups


def hold_out(
    count: int,
    *,
    val_size: float,
    test_size: float,
    seed: int,
    classes: Tensor | None = None,
    groups: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Indices of the training, validation and test rows; together they are each row once.

    Args:
        count: the number of rows.
        val_size: share for validation, in [0, 1).
        test_size: share for the test, in [0, 1).
        seed: which rows.
        classes: class of each row (N,); where given, every class keeps its share in every part.
        groups: group of each row (N,); where given, all rows of a group are in one part, and
            classes have no say.
    """
    if val_size + test_size >= 1:
        raise ConfigError(f"val_size + test_size must be less than 1, got {val_size} + {test_size}")
    num_test, num_val = round(count * test_size), round(count * val_size)
    if num_test + num_val >= count:
        raise DataError(f"{count} rows are too few for {num_val} validation and {num_test} test")
    if not num_test + num_val:
        nothing = torch.empty(0, dtype=torch.int64)
        return torch.arange(count), nothing, nothing
    if groups is not None:
        return _by_groups(groups, count - num_val - num_test, num_val, num_test, seed)
    order = _spread(count, seed, classes)
    test, val, train = torch.split(order, [num_test, num_val, count - num_test - num_val])
    return train.sort().values, val.sort().values, test.sort().values


def _by_groups(
    groups: Tensor, num_train: int, num_val: int, num_test: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """About so many rows of each part; one that is to have none has none."""
    wanted = {"train": num_train, "val": num_val, "test": num_test}
    parts = [part for part, rows in wanted.items() if rows]
    dealt = deal_groups(groups, [wanted[part] for part in parts], seed)
    rows = dict(zip(parts, dealt, strict=True))
    nothing = torch.empty(0, dtype=torch.int64)
    return rows["train"], rows.get("val", nothing), rows.get("test", nothing)


def k_folds(
    count: int,
    k: int,
    *,
    seed: int,
    classes: Tensor | None = None,
    groups: Tensor | None = None,
) -> list[tuple[Tensor, Tensor]]:
    """Give k pairs (rows to learn from, rows held out); each row is held out exactly once.

    With `classes` every fold has each class's share, to within one row; with `groups` all rows of a
    group are in one fold, and classes have no say.
    """
    if not 2 <= k <= count:
        raise ConfigError(f"k must lie between 2 and the {count} rows, got {k}")
    if groups is not None:
        held_out = deal_groups(groups, [count / k] * k, seed)
        every = torch.arange(count)
        return [(every[~torch.isin(every, rows)], rows) for rows in held_out]
    order = _shuffled(count, seed)
    if classes is not None:
        # Class after class: of the n rows of one, every k-th is n / k of them, up or down.
        order = order[classes[order].argsort(stable=True)]
    folds = [order[i::k] for i in range(k)]
    return [
        (torch.cat(folds[:i] + folds[i + 1 :]).sort().values, folds[i].sort().values)
        for i in range(k)
    ]


def _shuffled(count: int, seed: int) -> Tensor:
    return torch.randperm(count, generator=generator(seed, "split"))


def _spread(count: int, seed: int, classes: Tensor | None) -> Tensor:
    """All rows in random order; with classes, every stretch of it holds each class's share.

    Row j of the n rows of a class stands at (j + u) / n on a line from 0 to 1, with u random;
    sorting by that place spreads every class evenly.
    """
    order = _shuffled(count, seed)
    if classes is None:
        return order
    place = torch.empty(count, dtype=torch.float64)
    for label in torch.unique(classes):
        rows = order[classes[order] == label]
        shift = torch.rand(1, generator=generator(seed, "split", int(label)), dtype=torch.float64)
        place[rows] = (torch.arange(len(rows), dtype=torch.float64) + shift) / len(rows)
    return place.argsort(stable=True)
