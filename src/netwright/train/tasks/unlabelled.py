"""Inputs without targets: the loss is the caller's own, and all that is measured.

    loss(output, inputs)        of an autoencoder; a language model takes its targets out of them

Shapes: B batch, N examples.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, logits_of
from netwright.core.trees import Tree, count_rows
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.metrics.catalog import Kind
from netwright.train.tasks.task import Task, exact

NEEDS_LOSS = (
    "batches without targets need a loss of your own: loss=, a function of (output, inputs), or "
    "training_step=; a batch with targets is (inputs, targets), or a dict with a key such as "
    "'labels', which target='...' names"
)


class Unlabelled(Task):
    """The caller's loss of what the model makes of inputs."""

    target: ClassVar[Kind] = "real"  # what is put out are numbers
    headline: ClassVar[str] = ""
    loss_name = "own"

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """There is none but the caller's."""
        raise ConfigError(NEEDS_LOSS)

    def counted(self, targets: Tree) -> int:
        """See `Task.counted`; the targets are the inputs, or whatever the caller's step takes."""
        return count_rows(targets)

    def headline_sum(
        self, output: Tensor | Output, targets: Tree, weights: Tensor | None
    ) -> Tensor:
        """Nothing beside the loss."""
        return torch.zeros((), device=logits_of(output).device)

    def predictions(self, output: Tensor | Output) -> Tensor:
        """What the model puts out (N, ...)."""
        return exact(logits_of(output))

    def compared(self, predictions: Tensor, targets: Tree) -> Tensor:
        """Nothing is compared (N, 0)."""
        return torch.zeros(len(predictions), 0)

    def kept(self, targets: Tree) -> Tensor:
        """Nothing (N, 0)."""
        return torch.zeros(count_rows(targets), 0)

    def baseline(self, train: Split) -> Tensor:
        """There is no guess (0,)."""
        return torch.zeros(0)

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """Nothing."""
        return ""

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """Nothing (N, 0)."""
        return targets

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Nothing beside the loss."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """The kind; the loss is in no table."""
        return {"kind": "unlabelled", "loss": self.loss_name}
