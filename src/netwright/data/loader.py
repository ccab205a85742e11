"""Batches of data in memory, in an order that is a pure function of (seed, epoch, rank).

Nothing is replayed to go on in the middle of an epoch: the order is computed anew, and the place in
it is a number.

Shapes: N examples, B batch.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.data.dataset import Split


class Batch(NamedTuple):
    """A few examples: their inputs, targets, weights (or None) and row numbers.

    Weights have a mean of 1 over the whole split, so the mean of weight times loss adds up over
    batches to the weighted mean over the split, whatever the sizes of the batches.
    """

    inputs: Tensor
    targets: Tensor
    weights: Tensor | None
    rows: Tensor


class BatchLoader:
    """Cuts a split into batches; data lies on its device once and is indexed a batch at a time.

    With several ranks each sees every `world`-th row of the same shuffled order, so together they
    see each row once an epoch.

    Args:
        split: the examples.
        batch_size: examples a batch; the last one of an epoch may be smaller.
        seed: the run's seed.
        shuffle: a new order each epoch; otherwise rows come as they stand.
        rank: which part of the order is ours.
        world: how many parts there are.
    """

    def __init__(
        self,
        split: Split,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        if not 1 <= batch_size <= len(split):
            raise ConfigError(
                f"batch_size must lie between 1 and the {len(split)} rows, got {batch_size}"
            )
        if not 0 <= rank < world:
            raise ConfigError(f"rank must lie between 0 and {world - 1}, got {rank}")
        self.split, self.batch_size, self.seed = split, batch_size, seed
        self.shuffle, self.rank, self.world = shuffle, rank, world
        self.weights = None if split.weights is None else _with_mean_one(split.weights)

    def __len__(self) -> int:
        """Batches an epoch."""
        return (self.rows + self.batch_size - 1) // self.batch_size

    @property
    def rows(self) -> int:
        """Rows an epoch, of this rank."""
        return len(range(self.rank, len(self.split), self.world))

    def order(self, epoch: int) -> Tensor:
        """The rows that this rank sees in this epoch, in order."""
        count = len(self.split)
        if not self.shuffle:
            return torch.arange(count)[self.rank :: self.world]
        order = torch.randperm(count, generator=generator(self.seed, "order", epoch))
        return order[self.rank :: self.world]

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """The batches of one epoch, from batch number `start` on."""
        split, weights, size = self.split, self.weights, self.batch_size
        if not 0 <= start <= len(self):
            raise ConfigError(f"start must lie between 0 and the {len(self)} batches, got {start}")
        if start == len(self):  # torch.split would give one batch of no rows
            return
        order = self.order(epoch).to(split.inputs.device)
        for rows in torch.split(order[start * size :], size):
            yield Batch(
                split.inputs.index_select(0, rows),
                split.targets.index_select(0, rows),
                None if weights is None else weights.index_select(0, rows),
                rows,
            )


def _with_mean_one(weights: Tensor) -> Tensor:
    total = float(weights.sum())
    if not total > 0:  # NaN is refused too
        raise DataError(f"weights must not be negative and not all zero, their sum is {total}")
    return weights * (len(weights) / total)
