"""Dividing rows: hold-out, stratified and k-fold, each a pure function of its seed.

Source: Kohavi, "A study of cross-validation and bootstrap for accuracy estimation" (1995).
"""

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator


def hold_out(
    count: int, *, val_size: float, test_size: float, seed: int, classes: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Indices of the training, validation and test rows; together they are each row once.

    Args:
        count: the number of rows.
        val_size: share for validation, in [0, 1).
        test_size: share for the test, in [0, 1).
        seed: which rows.
        classes: class of each row (N,); where given, every class keeps its share in every part.
    """
    if val_size + test_size >= 1:
        raise ConfigError(f"val_size + test_size must be less than 1, got {val_size} + {test_size}")
    order = _spread(count, seed, classes)
    num_test, num_val = round(count * test_size), round(count * val_size)
    if num_test + num_val >= count:
        raise DataError(f"{count} rows are too few for {num_val} validation and {num_test} test")
    test, val, train = torch.split(order, [num_test, num_val, count - num_test - num_val])
    return train.sort().values, val.sort().values, test.sort().values


def k_folds(
    count: int, k: int, *, seed: int, classes: Tensor | None = None
) -> list[tuple[Tensor, Tensor]]:
    """Give k pairs (rows to learn from, rows held out); each row is held out exactly once.

    With `classes` every fold has each class's share, to within one row.
    """
    if not 2 <= k <= count:
        raise ConfigError(f"k must lie between 2 and the {count} rows, got {k}")
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
