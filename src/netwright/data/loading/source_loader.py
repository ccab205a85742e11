"""Batches of a loader of the caller's own, in the interface of all loaders.

    epoch e, batch k = the k-th batch that the loader gives when it is begun with (seed, e)

A pass to learn from has as many batches as the loader says, or as a run asks for where it does not
say: a stream that ends before is begun again. A pass to measure ends with the loader.

Shapes: B rows of a batch.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.trees import Tree, count_rows, map_tensors
from netwright.data.batches.reading import RawBatch, encode_targets
from netwright.data.batches.split import NEEDS_STEPS, SourceSplit
from netwright.data.loading.loader import Batch, Loader


class SourceLoader(Loader):
    """Gives the batches of a `SourceSplit` where its rows in memory lie.

    The row numbers of a batch are the places of its rows in it. Of batches without targets, the
    targets are the inputs.

    Args:
        split: the examples.
        seed: the run's seed.
        learns: a pass to learn from; else one to measure.
        rank: which part of each batch of a stream is ours.
        world: how many processes train together.
    """

    split: SourceSplit

    def __init__(
        self,
        split: SourceSplit,
        *,
        seed: int = 0,
        learns: bool = True,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        if world > 1 and not split.source.is_stream:
            raise ConfigError(
                f"batches of a DataLoader are trained on in one process, got {world}: give its "
                f"Dataset, whose rows are shared out"
            )
        first = min(split.batch_size, len(split))
        super().__init__(split, first, seed=seed, shuffle=learns, rank=rank, world=world)
        self.batch_size, self.learns = split.batch_size, learns
        self._set_size(first)
        self._factor = None
        if split.weights is not None:
            self._factor = len(split.weights) / float(split.weights.sum())

    def __len__(self) -> int:
        if self.split.batches is None:
            raise ConfigError(NEEDS_STEPS)
        return self.split.batches

    @property
    def rows(self) -> int:
        """Rows an epoch, where batches are as large as the first."""
        told = self.split.source.rows
        fits = told is not None and -(-told // self.batch_size) == len(self)
        return told if told is not None and fits else len(self) * self.batch_size

    def sizes(self, index: int) -> tuple[int, int]:
        """Rows of the batch that came last: this rank's, and all."""
        return len(range(self.rank, self._last, self.world)), self._last

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """See `Loader.epoch`; the batches before `start` are read again."""
        source, device = self.split.source, self.split.targets.device
        batches = (
            source.read(self.seed, epoch, len(self), start=start)
            if self.learns
            else source.measure(self.seed)
        )
        number = start  # counted here: enumerate holds a batch until it has the next one
        for batch in batches:
            rows = count_rows(batch.inputs)
            if rows != self._last:
                self._set_size(rows)
            yield self._made(self._part(batch), device, number)
            number += 1
            del batch  # before the next one is made, so that it takes the same, warm memory

    def _set_size(self, rows: int) -> None:
        """Note how many rows a batch has, and the places of those of this rank."""
        self._last = rows
        places = torch.arange(rows, device=self.split.targets.device)
        self._places = self._ours(places)

    def _part(self, batch: RawBatch) -> RawBatch:
        """What this rank takes of a batch."""
        if self.world == 1:
            return batch
        return RawBatch(*(None if one is None else map_tensors(self._ours, one) for one in batch))

    def _ours(self, rows: Tensor) -> Tensor:
        return rows[self.rank :: self.world] if self.rank < len(rows) else rows[:1]

    def _has_none(self, batch: RawBatch) -> bool:
        """Whether the inputs stand for the targets: a loss of them is one of reconstruction."""
        return batch.targets is None and self.split.kind == "none"

    def _made(self, batch: RawBatch, device: torch.device, number: int) -> Batch:
        split = self.split
        try:
            given = batch.inputs if self._has_none(batch) else batch.targets
            targets = encode_targets(given, split.kind, split.outputs)
        except NetwrightError as error:
            raise type(error)(f"batch {number} of the loader: {error}") from None
        weights = None
        if self._factor is not None and batch.weights is not None:
            weights = _moved(batch.weights * self._factor, device)
        return Batch(_moved(batch.inputs, device), _moved(targets, device), weights, self._places)


def _moved(tree: Tree, device: torch.device) -> Tree:
    """The tree on the device; from pinned memory nobody waits for the copy."""
    if isinstance(tree, Tensor):
        return tree if tree.device == device else tree.to(device, non_blocking=True)
    return map_tensors(lambda part: part.to(device, non_blocking=True), tree)
