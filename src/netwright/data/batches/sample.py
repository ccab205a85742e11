"""The first batches of a loader, kept to tell kinds and classes by, and to be looked at.

Rows of batches are kept side by side: where their shapes differ from batch to batch, as of texts
that are filled up to the longest of each, those of the commonest shape are kept.

Shapes: N rows that are kept.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows, join_rows, move, tensors_of
from netwright.data.batches.reading import RawBatch
from netwright.data.batches.source import BatchSource

MOST_BATCHES = 200
MOST_ROWS = 10_000
MOST_BYTES = 2**28
SEED = 0  # of what is looked at: it does not depend on the seed of a run


@dataclass(frozen=True, kw_only=True)
class BatchSample:
    """What the first batches hold.

    Args:
        inputs: of the kept rows (N, ...).
        targets: of the kept rows, as they came.
        weights: of the kept rows, or None.
        all_targets: of every batch that was read.
        shapes: of one row of each input, with -1 where batches differ.
        batch_size: rows of the first batch.
        batches: how many were read.
        is_all: the loader had no more.
    """

    inputs: Tree
    targets: Tensor
    weights: Tensor | None
    all_targets: Tensor
    shapes: tuple[tuple[int, ...], ...]
    batch_size: int
    batches: int
    is_all: bool


def sample_batches(source: BatchSource) -> BatchSample:
    """Read the first batches of a loader, as many as are few and small enough to be kept."""
    batches = source.measure(SEED)
    read = [_in_memory(batch) for batch in islice(_few(batches), MOST_BATCHES)]
    if not read:
        raise DataError("the loader gives no batch")
    is_all = len(read) == source.count or next(batches, None) is None
    groups = Counter(map(_row_shapes, read))
    commonest = groups.most_common(1)[0][0]
    kept = [batch for batch in read if _row_shapes(batch) == commonest]
    weights = [batch.weights for batch in kept if batch.weights is not None]
    return BatchSample(
        inputs=join_rows([batch.inputs for batch in kept]),
        targets=torch.cat([batch.targets for batch in kept]),
        weights=torch.cat(weights) if len(weights) == len(kept) else None,
        all_targets=_joined([batch.targets for batch in read]),
        shapes=_common_shapes(list(groups)),
        batch_size=count_rows(read[0].inputs),
        batches=len(read),
        is_all=is_all,
    )


def _few(batches: Iterator[RawBatch]) -> Iterator[RawBatch]:
    """Batches until there are rows or bytes enough; at least one."""
    rows = size = 0
    while rows < MOST_ROWS and size < MOST_BYTES:
        batch = next(batches, None)
        if batch is None:
            return
        yield batch
        rows += count_rows(batch.inputs)
        size += sum(part.numel() * part.element_size() for part in tensors_of(batch.inputs))


def _in_memory(batch: RawBatch) -> RawBatch:
    here: RawBatch = move(batch, torch.device("cpu"))
    return here


def _row_shapes(batch: RawBatch) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(part.shape[1:]) for part in tensors_of((batch.inputs, batch.targets)))


def _joined(targets: list[Tensor]) -> Tensor:
    try:
        return torch.cat(targets)
    except RuntimeError:
        shapes = " and ".join(sorted({str(tuple(part.shape[1:])) for part in targets}))
        raise DataError(f"targets must have one shape in all batches, got {shapes}") from None


def _common_shapes(seen: list[tuple[tuple[int, ...], ...]]) -> tuple[tuple[int, ...], ...]:
    """The shape of each input, with -1 where it differs; the last part are the targets."""
    if len({tuple(map(len, shapes)) for shapes in seen}) != 1:
        raise DataError("all batches must have the same parts, each with as many dimensions")
    parts = list(zip(*seen, strict=True))[:-1]
    return tuple(
        tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*part, strict=True))
        for part in parts
    )
