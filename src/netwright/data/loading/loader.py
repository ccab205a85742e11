"""Batches of data, in an order that is a pure function of (seed, epoch), shared out over ranks.

    batch k = order[k B : (k + 1) B]        of all ranks together
    rank r of W takes every W-th row of it, from the r-th on

In lanes, a text is cut into B equal parts, of which every batch has the next window each:

    batch k = rows k, K + k, 2 K + k ...        K = N // B; the rows that are left come last

Batches by length (`by_length.py`) have an order of their own, and are cut to their longest rows.

So a batch number means the same for any number of ranks, and nothing is replayed to go on in the
middle of an epoch: the order is computed anew, and the place in it is a number.

Shapes: N examples, B batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.core.trees import Tree
from netwright.data.dataset import Split
from netwright.data.loading.by_length import Lengths
from netwright.data.loading.windows import WindowSplit


class Batch(NamedTuple):
    """A few examples: their inputs, targets, weights (or None) and row numbers.

    Inputs are one tensor (B, ...), or several: a tuple, list or dict of them. So may targets be
    that a training step takes from a loader of the caller's own.

    Weights have a mean of 1 over the whole split, so the mean of weight times loss adds up over
    batches to the weighted mean over the split, whatever the sizes of the batches.
    """

    inputs: Tree
    targets: Tree
    weights: Tensor | None
    rows: Tensor


class Loader(ABC):
    """Cuts a split into batches; the ranks' parts of a batch are together that batch.

    Args:
        split: the examples.
        batch_size: examples a batch of all ranks together; the last of an epoch may be smaller.
        seed: the run's seed.
        shuffle: a new order each epoch; otherwise rows come as they stand.
        rank: which part of each batch is ours.
        world: how many parts there are.
        lanes: row b of a batch goes on where row b of the batch before ended, in no other order.
        lengths: of the rows, to make batches of about one length; None: as they come.
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
        lanes: bool = False,
        lengths: Lengths | None = None,
    ) -> None:
        if lanes:
            _check_lanes(split, world)
        if not 1 <= batch_size <= split.total:
            raise ConfigError(
                f"batch_size must lie between 1 and the {split.total} rows, got {batch_size}"
            )
        if not 0 <= rank < world:
            raise ConfigError(f"rank must lie between 0 and {world - 1}, got {rank}")
        if batch_size < world:
            raise ConfigError(
                f"batch_size must be at least {world}, a row for each rank, got {batch_size}"
            )
        self.split, self.batch_size, self.seed = split, batch_size, seed
        self.shuffle, self.lanes, self.rank, self.world = shuffle, lanes, rank, world
        self.lengths = lengths
        self.weights = None if split.weights is None else _with_mean_one(split.weights)

    def __len__(self) -> int:
        """Batches an epoch, the same on every rank."""
        return (self.split.total + self.batch_size - 1) // self.batch_size

    @property
    def rows(self) -> int:
        """Rows an epoch, of all ranks together."""
        return self.split.total

    def sizes(self, index: int) -> tuple[int, int]:
        """Rows of batch `index` that count as this rank's, and rows of the whole batch."""
        whole = min(self.batch_size, self.split.total - index * self.batch_size)
        return len(range(self.rank, whole, self.world)), whole

    def order(self, epoch: int) -> Tensor:
        """The rows of an epoch in order, of all ranks together (N,)."""
        count = self.split.total
        if self.lanes:
            return lane_order(count, self.batch_size)
        if not self.shuffle:
            return torch.arange(count)
        if self.lengths is not None:
            return self.lengths.order(self.seed, epoch, self.batch_size)
        return self.split.order(generator(self.seed, "order", epoch))

    @abstractmethod
    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """This rank's part of the batches of one epoch, from batch number `start` on.

        Every rank takes part in every step: one whose part of a small last batch is empty is given
        the first row of that batch, which `sizes` does not count.
        """

    def batch_of(self, rows: Tensor) -> Batch:
        """The examples at these places (B,), read now."""
        return self._batch(self.split.read(rows), rows)

    def close(self) -> None:  # noqa: B027 - data in memory holds nothing
        """Let go of what reading holds; another epoch takes it up again."""

    def _parts(self, order: Tensor, start: int) -> list[Tensor]:
        """This rank's rows of each batch of an order, from batch number `start` on."""
        if not 0 <= start <= len(self):
            raise ConfigError(f"start must lie between 0 and the {len(self)} batches, got {start}")
        if start == len(self):  # torch.split would give one batch of no rows
            return []
        if self.world == 1 and not start and len(order) <= self.batch_size:
            return [order]
        batches = torch.split(order[start * self.batch_size :], self.batch_size)
        if self.world == 1:
            return list(batches)
        return [
            batch[self.rank :: self.world] if self.rank < len(batch) else batch[:1]
            for batch in batches
        ]

    def _batch(self, inputs: Tree, rows: Tensor) -> Batch:
        """These inputs with the targets and weights of their rows, which lie where they do."""
        weights = None if self.weights is None else self.weights.index_select(0, rows)
        return Batch(inputs, self.split.targets.index_select(0, rows), weights, rows)


class BatchLoader(Loader):
    """Batches of data in memory: it lies on its device once and is indexed a batch at a time."""

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """See `Loader.epoch`."""
        order = self.order(epoch)
        parts = self._parts(order.to(self.split.targets.device), start)
        if self.lengths is None:
            yield from map(self.batch_of, parts)
            return
        for rows, places in zip(parts, self._parts(order, start), strict=True):
            batch = self.batch_of(rows)
            inputs, targets = self.lengths.cut(batch.inputs, batch.targets, places)
            yield batch._replace(inputs=inputs, targets=targets)


def lane_order(count: int, lanes: int) -> Tensor:
    """The rows of all batches one after the other (N,), where each batch has a row of each lane."""
    length = count // lanes
    whole = torch.arange(lanes * length).view(lanes, length).T.flatten()
    return torch.cat([whole, torch.arange(lanes * length, count)])


def _check_lanes(split: Split, world: int) -> None:
    """Refuse rows of which the next does not go on where one ended."""
    if not isinstance(split, WindowSplit):
        raise ConfigError("carry_state is for windows of one long text, these rows are independent")
    if split.stride != split.window:
        raise ConfigError(
            f"carry_state needs windows that follow each other, one every {split.window} tokens, "
            f"got one every {split.stride}"
        )
    if world > 1:
        raise ConfigError(f"carry_state trains in one process, got {world}")


def _with_mean_one(weights: Tensor) -> Tensor:
    total = float(weights.sum())
    if not total > 0:  # NaN is refused too
        raise DataError(f"weights must not be negative and not all zero, their sum is {total}")
    return weights * (len(weights) / total)
