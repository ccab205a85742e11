"""Batches of stored inputs, read ahead by worker processes or, without any, in this one.

What a batch holds depends on (seed, epoch, batch) alone: the number of workers, whether they stay
from epoch to epoch, and where an epoch is entered change nothing.

Shapes: N examples, B batch.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Split
from netwright.data.loading.by_length import Lengths
from netwright.data.loading.loader import Batch, BatchLoader, Loader
from netwright.data.loading.source_loader import SourceLoader
from netwright.data.loading.stored import StoredSplit
from netwright.data.loading.token_loader import TokenLoader
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.loading.worker_pool import PATIENCE, Reading, WorkerPool, read_here


class WorkerLoader(Loader):
    """Cuts a stored split into batches; one epoch is under way at a time.

    Batches come where the split's targets lie.

    Args:
        split: the examples.
        batch_size: as in `Loader`.
        seed: as in `Loader`.
        shuffle: as in `Loader`.
        rank: as in `Loader`.
        world: as in `Loader`.
        workers: processes that read; 0 reads here.
        persistent: keep the workers for the next epoch.
        patience: seconds without an answer after which a worker counts as hung.
    """

    def __init__(  # noqa: PLR0913 - those of every loader, and three of its own
        self,
        split: StoredSplit,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        rank: int = 0,
        world: int = 1,
        workers: int = 0,
        persistent: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(split, batch_size, seed=seed, shuffle=shuffle, rank=rank, world=world)
        self.stored, self.places = split.stored, split.rows
        self.workers, self.persistent, self.patience = workers, persistent, patience
        self._pool: WorkerPool | None = None

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """See `Loader.epoch`."""
        order = self.order(epoch)
        parts = self._parts(order, start)
        if not parts:
            return
        readings = (
            Reading(epoch, number, self.places[rows]) for number, rows in enumerate(parts, start)
        )
        read = self._read_ahead(readings) if self.workers else self._read_here(readings)
        device = self.split.targets.device
        for inputs, rows in zip(read, self._parts(order.to(device), start), strict=True):
            yield self._batch(_moved(inputs, device), rows)

    def close(self) -> None:
        """End the workers; another epoch starts new ones."""
        if self._pool is not None:
            self._pool.stop()
            self._pool = None

    def _read_here(self, readings: Iterator[Reading]) -> Iterator[Tensor]:
        return (read_here(self.stored, reading, seed=self.seed) for reading in readings)

    def _read_ahead(self, readings: Iterator[Reading]) -> Iterator[Tensor]:
        pool = self._idle_pool()
        try:
            yield from pool.read(readings)
        finally:
            if not (self.persistent and pool.is_idle):  # left early: what is owed is of no use
                pool.stop()

    def _idle_pool(self) -> WorkerPool:
        """Workers that owe nothing: those of the epoch before, or new ones."""
        if self._pool is None or not self._pool.is_idle:
            self.close()
            self._pool = WorkerPool(
                self.stored,
                rows=self.sizes(0)[0],
                seed=self.seed,
                count=min(self.workers, len(self)),
                patience=self.patience,
                pinned=self.split.targets.is_cuda,
            )
        return self._pool


def build_loader(  # noqa: PLR0913 - those of every loader, and three of its own
    split: Split,
    batch_size: int,
    *,
    seed: int = 0,
    shuffle: bool = True,
    rank: int = 0,
    world: int = 1,
    workers: int = 0,
    persistent: bool = True,
    lanes: bool = False,
    lengths: Lengths | None = None,
) -> Loader:
    """The loader for a split: data in memory needs no workers, and alone has lanes and lengths.

    Batches of a caller's own are taken as they are; to shuffle says that they are learned from.
    """
    if isinstance(split, SourceSplit) and not lanes:
        return SourceLoader(split, seed=seed, learns=shuffle, rank=rank, world=world)
    if isinstance(split, TokenSplit) and not lanes:
        return TokenLoader(
            split,
            batch_size,
            seed=seed,
            shuffle=shuffle,
            rank=rank,
            world=world,
            workers=workers,
        )
    if lanes or not isinstance(split, StoredSplit):
        return BatchLoader(
            split,
            batch_size,
            seed=seed,
            shuffle=shuffle,
            rank=rank,
            world=world,
            lanes=lanes,
            lengths=lengths,
        )
    return WorkerLoader(
        split,
        batch_size,
        seed=seed,
        shuffle=shuffle,
        rank=rank,
        world=world,
        workers=workers,
        persistent=persistent,
        patience=PATIENCE + split.stored.fetching,
    )


def _moved(inputs: Tensor, device: torch.device) -> Tensor:
    """The inputs on the device; to CUDA without waiting for it, which takes pinned memory."""
    if device.type == "cuda":
        return inputs.pin_memory().to(device, non_blocking=True)
    return inputs.to(device)
