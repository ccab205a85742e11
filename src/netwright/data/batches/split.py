"""Examples that come in batches of a caller's own, with the first of them in memory.

Whatever looks at examples before or after training (kinds, baseline, doctor, views) looks at those
in memory; training and measuring read the loader.

Shapes: N rows in memory, B rows of a batch.
"""

from typing import Any

import torch
from torch import Tensor

from netwright.core.trees import Tree
from netwright.data.batches.source import BatchSource
from netwright.data.dataset import Split
from netwright.data.targets import ReadyTarget

NEEDS_STEPS = (
    "the loader does not say how many batches it has, as an IterableDataset without a length: give "
    "max_steps, the number of updates to train for"
)


class SourceSplit(Split):
    """A split that is read from a loader; as a split it is the rows that are in memory.

    Args:
        inputs: of the rows in memory.
        targets: of the rows in memory.
        weights: of the rows in memory, or None.
        source: where batches come from.
        kind: what targets are.
        outputs: classes, labels, reals or tokens.
        batch_size: rows of a batch; the first one's, where the loader does not say.
        batches: of an epoch; None where nobody knows.
        is_whole: the rows in memory are all that there are.
    """

    source: BatchSource
    kind: ReadyTarget
    outputs: int
    batch_size: int
    batches: int | None
    is_whole: bool

    def __init__(  # noqa: PLR0913 - what is in memory, and what is known of the rest
        self,
        *,
        inputs: Tree,
        targets: Tensor,
        weights: Tensor | None,
        source: BatchSource,
        kind: ReadyTarget,
        outputs: int,
        batch_size: int,
        batches: int | None,
        is_whole: bool,
    ) -> None:
        values = {
            "inputs": inputs,
            "targets": targets,
            "weights": weights,
            "source": source,
            "kind": kind,
            "outputs": outputs,
            "batch_size": batch_size,
            "batches": batches,
            "is_whole": is_whole,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __repr__(self) -> str:
        many = "an unknown number of" if self.batches is None else f"{self.batches:,}"
        return f"SourceSplit({many} batches of {self.batch_size}; {len(self)} rows in memory)"

    def in_memory(self) -> Split:
        """The rows in memory alone."""
        return Split(inputs=self.inputs, targets=self.targets, weights=self.weights)

    def to_measure(self) -> Split:
        """What is measured: the loader, or of one that may never end the rows in memory."""
        return self.in_memory() if self.batches is None else self

    def changed(self, **values: Any) -> "SourceSplit":
        """The same with other values of some fields."""
        return SourceSplit(**{**vars(self), **values})

    def take(self, indices: Tensor) -> Split:
        """Rows in memory, at these places."""
        return self.in_memory().take(indices)

    def with_targets(self, targets: Tensor, weights: Tensor | None) -> Split:
        """The rows in memory with other targets and weights."""
        return self.in_memory().with_targets(targets, weights)

    def to(self, device: torch.device) -> "SourceSplit":
        """Batches come to this device, and the rows in memory lie there."""
        here = self.in_memory().to(device)
        return self.changed(inputs=here.inputs, targets=here.targets, weights=here.weights)
