"""Several labels, each yes or no: binary cross-entropy a label.

Shapes: B batch, C labels.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor

from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.catalog import LOSSES
from netwright.metrics.catalog import Kind
from netwright.metrics.labels import is_yes
from netwright.metrics.samples import weighted_mean
from netwright.train.tasks.task import Task, exact, mean_loss, weighted


class MultiLabel(Task):
    """The mean over labels of -y log p - (1 - y) log(1 - p), where p is the sigmoid of a logit.

    Args:
        loss: a name in the catalog of losses.
        loss_options: settings of the loss: delta, gamma ...
    """

    target: ClassVar[Kind] = "labels"
    headline: ClassVar[str] = "accuracy"

    def __init__(
        self, *, loss: str = "binary-cross-entropy", loss_options: Mapping[str, Any] | None = None
    ) -> None:
        self.loss_name, self.loss_options = loss, dict(loss_options or {})
        self._loss = LOSSES.load(loss).function(loss, "labels", self.loss_options)

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss over labels and examples."""
        return mean_loss(self._loss, logits, batch.targets, batch.weights)

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """The share of right labels, summed over examples."""
        right = is_yes(self.predictions(output)) == is_yes(targets)
        return weighted(right.float().mean(dim=1), weights).sum()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, C), one a label."""
        return exact(logits_of(output)).sigmoid()

    def baseline(self, train: Split) -> Tensor:
        """The share of each label in the training rows."""
        return weighted_mean(train.targets, train.weights).cpu().float()

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """That it is the shares."""
        return "each label as often as in the training rows"

    def to_json(self) -> dict[str, Any]:
        """The kind and the loss."""
        return {
            "kind": "multi-label",
            "loss": self.loss_name,
            "loss_options": self.loss_options,
        }
