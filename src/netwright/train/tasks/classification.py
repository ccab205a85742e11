"""One class of several: cross-entropy, accuracy, probabilities by the softmax.

Shapes: B batch, C classes.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loader import Batch
from netwright.metrics.catalog import Kind
from netwright.train.tasks.task import Task, exact, weighted


class Classification(Task):
    """Cross-entropy -log p(y | x), where p is the softmax of the logits.

    Args:
        num_classes: C.
        class_weights: how much each class counts (C,), or None; see `balanced_weights`.
    """

    target: ClassVar[Kind] = "class"
    headline: ClassVar[str] = "accuracy"

    def __init__(self, num_classes: int, class_weights: Tensor | None = None) -> None:
        self.num_classes = num_classes
        self.class_weights = class_weights

    def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
        """Mean cross-entropy; class and sample weights multiply."""
        logits = exact(logits_of(output))
        if self.class_weights is None and batch.weights is None:
            return F.cross_entropy(logits, batch.targets)
        weights = batch.weights
        if self.class_weights is not None:
            of_class = self.class_weights.to(logits.device)[batch.targets]
            weights = of_class if weights is None else weights * of_class
        return weighted(F.cross_entropy(logits, batch.targets, reduction="none"), weights).mean()

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """How many examples of the batch are right."""
        return weighted(logits_of(output).argmax(dim=1) == targets, weights).sum()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, C)."""
        return exact(logits_of(output)).softmax(dim=1)

    def baseline(self, train: Split) -> Tensor:
        """The class shares of the training rows; the commonest class is the prediction."""
        shares = class_sums(train, self.num_classes)
        return shares / shares.sum()

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The commonest class and its share."""
        share, place = self.baseline(train).max(dim=0)
        return f"always {names[int(place)]!r}, {float(share):.2%} of the training rows"

    def to_json(self) -> dict[str, Any]:
        """The number of classes, and how much each counts."""
        weights = None if self.class_weights is None else self.class_weights.tolist()
        return {
            "kind": "classification",
            "num_classes": self.num_classes,
            "class_weights": weights,
        }


def balanced_weights(train: Split, num_classes: int) -> Tensor:
    """Weight n / (C n_c): every class counts the same in all (King and Zeng, 2001)."""
    counts = class_sums(train, num_classes)
    return counts.sum() / (num_classes * torch.where(counts > 0, counts, torch.ones(())))


def class_sums(train: Split, num_classes: int) -> Tensor:
    """The rows of each class (C,), each counting as much as its weight says."""
    weights = None if train.weights is None else train.weights.cpu().double()
    return torch.bincount(train.targets.cpu(), weights, minlength=num_classes).float()
