"""The first batches of a loader, kept to tell kinds and classes by, and to be looked at.

Rows of batches are kept side by side: where their shapes differ from batch to batch, as of texts
that are filled up to the longest of each, those of the commonest shape are kept.

Shapes: N rows that are kept, T tokens.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows, join_filled, join_rows, map_tensors, tensors_of
from netwright.data.batches.reading import RawBatch
from netwright.data.batches.source import NO_BATCH, BatchSource
from netwright.data.spec import IGNORED

MOST_BATCHES = 200
MOST_ROWS = 10_000
MOST_BYTES = 2**26
SEED = 0  # of what is looked at: it does not depend on the seed of a run


@dataclass(frozen=True, kw_only=True)
class BatchSample:
    """What the first batches hold.

    Args:
        inputs: of the kept rows (N, ...).
        targets: of the kept rows, as they came; None where they are no tensor, or not there.
        weights: of the kept rows, or None.
        all_targets: of every batch that was read, as `targets`.
        rows: of every batch that was read.
        shapes: of one row of each input, with -1 where batches differ.
        batch_size: rows of the first batch.
        batches: how many were read.
        is_all: the loader had no more.
    """

    inputs: Tree
    targets: Tensor | None
    weights: Tensor | None
    all_targets: Tensor | None
    rows: int
    shapes: tuple[tuple[int, ...], ...]
    batch_size: int
    batches: int
    is_all: bool


def sample_batches(source: BatchSource) -> BatchSample:
    """Read the first batches of a loader, as many as are few and small enough to be kept."""
    batches = source.measure(SEED)
    read = [_copied(batch) for batch in islice(_few(batches), MOST_BATCHES)]
    if not read:
        raise DataError(NO_BATCH)
    is_all = len(read) == source.count or next(batches, None) is None
    groups = Counter(map(_row_shapes, read))
    commonest = groups.most_common(1)[0][0]
    kept = [batch for batch in read if _row_shapes(batch) == commonest]
    weights = [batch.weights for batch in kept if batch.weights is not None]
    return BatchSample(
        inputs=join_rows([batch.inputs for batch in kept]),
        targets=_joined(kept),
        weights=torch.cat(weights) if len(weights) == len(kept) else None,
        all_targets=_joined(read),
        rows=sum(count_rows(batch.inputs) for batch in read),
        shapes=_common_shapes(list(groups), len(tensors_of(read[0].inputs))),
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


def _copied(batch: RawBatch) -> RawBatch:
    """In memory of our own.

    That of a worker is shared, of which containers have little: workers that find none left are
    killed. That of others may be the next batch's too.
    """
    here: RawBatch = map_tensors(lambda tensor: tensor.to("cpu", copy=True), batch)
    return here


def _row_shapes(batch: RawBatch) -> tuple[tuple[int, ...], ...]:
    """Those of the inputs, and of targets that are one tensor."""
    targets = batch.targets if isinstance(batch.targets, Tensor) else None
    return tuple(tuple(part.shape[1:]) for part in tensors_of((batch.inputs, targets)))


def _joined(batches: list[RawBatch]) -> Tensor | None:
    """The targets of batches; those of each token are filled up where texts differ in length."""
    targets = [one.targets for one in batches if isinstance(one.targets, Tensor)]
    if len(targets) < len(batches):
        return None
    try:
        are_tokens = all(part.ndim == 2 and not part.is_floating_point() for part in targets)
        return join_filled(targets, IGNORED) if are_tokens else torch.cat(targets)
    except RuntimeError:
        shapes = " and ".join(sorted({str(tuple(part.shape[1:])) for part in targets}))
        raise DataError(
            f"targets must have one shape in all batches, got {shapes}: let collate_fn bring them "
            f"to one, or give them in a dict, for a training_step"
        ) from None


def _common_shapes(
    seen: list[tuple[tuple[int, ...], ...]], inputs: int
) -> tuple[tuple[int, ...], ...]:
    """The shape of each of so many inputs, with -1 where it differs; targets come after them."""
    if len({tuple(map(len, shapes)) for shapes in seen}) != 1:
        raise DataError(
            "all batches must have the same parts, each with as many dimensions: let collate_fn "
            "give the same ones every time"
        )
    parts = list(zip(*seen, strict=True))[:inputs]
    return tuple(
        tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*part, strict=True))
        for part in parts
    )
