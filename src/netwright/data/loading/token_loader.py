"""Batches of windows that lie in token files, read ahead by threads or, without any, when wanted.

What a batch holds depends on (seed, epoch, batch) alone, see `loader.py`: every window comes once
an epoch, whatever the number of ranks and threads, and an epoch is entered anywhere without reading
what came before. Threads suffice: to read lets the others run.

Shapes: B rows of a batch, T tokens of each.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import torch
from torch import Tensor

from netwright.core.errors import DataError, RunError
from netwright.core.limits import WORKERS
from netwright.data.loading.loader import Batch, Loader
from netwright.data.loading.token_windows import TokenSplit

AHEAD = 2  # batches that each thread is asked for at a time

Tokens = tuple[Tensor, Tensor]  # inputs and targets (B, T)


class TokenLoader(Loader):
    """Cuts the windows of token files into batches, which come where the split's tensors lie.

    Args:
        split: the windows.
        batch_size: as in `Loader`.
        seed: as in `Loader`.
        shuffle: as in `Loader`.
        rank: as in `Loader`.
        world: as in `Loader`.
        workers: threads that read ahead; 0 reads when a batch is wanted.
    """

    split: TokenSplit

    def __init__(
        self,
        split: TokenSplit,
        batch_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        rank: int = 0,
        world: int = 1,
        workers: int = 0,
    ) -> None:
        super().__init__(split, batch_size, seed=seed, shuffle=shuffle, rank=rank, world=world)
        WORKERS.check("the run", workers, "asks for")
        self.workers = workers

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """See `Loader.epoch`."""
        order, device = self.order(epoch), self.split.targets.device
        parts = self._parts(order, start)
        read = self._read_ahead(parts) if self.workers else map(self._read, parts)
        number = start
        places = self._parts(order.to(device), start)
        try:
            for (inputs, targets), rows in zip(read, places, strict=True):
                yield Batch(_moved(inputs, device), _moved(targets, device), None, rows)
                number += 1
        except DataError as error:
            raise RunError(f"could not read batch {number} of epoch {epoch}: {error}") from None

    def batch_of(self, rows: Tensor) -> Batch:
        """See `Loader.batch_of`."""
        inputs, targets = self._read(rows.cpu())
        device = self.split.targets.device
        return Batch(_moved(inputs, device), _moved(targets, device), None, rows)

    def _read(self, rows: Tensor) -> Tokens:
        inputs, targets = self.split.windows.read(rows)
        if self.split.targets.is_cuda:  # from pinned memory a GPU copies by itself
            return inputs.contiguous().pin_memory(), targets.contiguous().pin_memory()
        return inputs, targets

    def _read_ahead(self, parts: Sequence[Tensor]) -> Iterator[Tokens]:
        """The same in order, while threads read the next ones."""
        rest = iter(parts)
        with ThreadPoolExecutor(self.workers, thread_name_prefix="tokens") as threads:
            owed: deque[Future[Tokens]] = deque(
                threads.submit(self._read, rows) for rows in islice(rest, AHEAD * self.workers)
            )
            try:
                while owed:
                    tokens = owed.popleft().result()
                    owed.extend(threads.submit(self._read, rows) for rows in islice(rest, 1))
                    yield tokens
            finally:  # left early: what is owed is of no use
                for future in owed:
                    future.cancel()


def _moved(tokens: Tensor, device: torch.device) -> Tensor:
    return tokens.to(device, non_blocking=True)
