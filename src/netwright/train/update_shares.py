r"""How much a batch counts in its update: its share of all that the update's mean loss is over.

    share of batch k = \sum_{i in batch k} n_i / \sum_{i in update} n_i

n_i is 1 for an example with one target, and for a text the number of its tokens that count: the
gradients of batches then add up to that of one large batch, however long their texts are. Of a
loader of the caller's own nobody knows the next texts, and windows of one stream have equally many:
there each counts 1.

Shapes: N examples, K batches.
"""

import torch

from netwright.data.loading.loader import Loader
from netwright.data.loading.source_loader import SourceLoader
from netwright.data.loading.token_loader import TokenLoader
from netwright.train.tasks.task import Task


class UpdateShares:
    """The shares of this rank's batches.

    Targets are counted once, so that no step waits for the device.

    Args:
        loader: of the batches.
        task: knows what its mean loss is over.
        accumulate: batches an update.
    """

    def __init__(self, loader: Loader, task: Task, accumulate: int) -> None:
        self.loader, self.accumulate = loader, accumulate
        self.is_whole = accumulate == 1 and loader.world == 1
        is_known = not self.is_whole and not isinstance(loader, SourceLoader | TokenLoader)
        self.counts = task.counted_each(loader.split.targets) if is_known else None

    def of_epoch(self, epoch: int) -> list[float]:
        """The share of each batch of an epoch, K numbers."""
        loader = self.loader
        if self.is_whole:
            return [1.0] * len(loader)
        counts = (
            torch.ones(loader.rows) if self.counts is None else self.counts[loader.order(epoch)]
        )
        places = torch.arange(loader.rows)  # (N,), in the order of the epoch
        batches = places // loader.batch_size
        is_own = places % loader.batch_size % loader.world == loader.rank
        own = torch.bincount(batches, counts.double() * is_own)  # (K,)
        whole = torch.bincount(batches // self.accumulate, counts.double()).clamp_min(1)
        shares: list[float] = (own / whole[torch.arange(len(own)) // self.accumulate]).tolist()
        return shares
