r"""Detection: which objects an image shows, and where; a set of boxes with a class each.

Shapes: B batch, N examples, Q queries, M objects, C classes; outputs (B, Q, C + 5), targets
(B, M, 5), see `netwright.losses.set_prediction`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_finite
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.set_prediction import set_loss, split_outputs
from netwright.metrics.boxes import mean_box_iou, measure_boxes, score_boxes
from netwright.metrics.catalog import Kind
from netwright.train.tasks.task import Task, exact, mean_loss


class Detection(Task):
    """The loss of a set; the overlap of the boxes is shown while training.

    Args:
        num_classes: C.
    """

    target: ClassVar[Kind] = "boxes"
    headline: ClassVar[str] = "mean_box_iou"
    on_host: ClassVar[str] = "objects and queries are matched on the host"
    loss_name = "set-prediction"

    def __init__(self, num_classes: int) -> None:
        self.num_classes = num_classes

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean over images."""
        return mean_loss(set_loss, logits, batch.targets, batch.weights)

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """Overlaps, hits, said and true objects of all images (4,)."""
        scores = score_boxes(self.predictions(output), targets)
        return (scores if weights is None else scores * weights[:, None]).sum(dim=0)

    @property
    def headline_shape(self) -> tuple[int, ...]:
        """Four sums."""
        return (4,)

    def headline_value(self, mean: Tensor) -> float:
        """The mean overlap of the objects."""
        return mean_box_iou(mean)

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities of the classes and of nothing, and the box, of each query (N, Q, C + 5)."""
        logits, boxes = split_outputs(exact(logits_of(output)))
        return torch.cat((logits.softmax(dim=2), boxes.sigmoid()), dim=2)

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Overlaps, hits, said and true objects of each image (N, 4)."""
        check_finite("predictions", predictions)
        return score_boxes(predictions, targets)

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Both measures of all images."""
        return measure_boxes(compared, weights)

    def baseline(self, train: Split) -> Tensor:
        """One box of the commonest class, of mean place and size (C + 5,)."""
        objects = train.targets[train.targets[..., 0] >= 0].cpu()  # (objects, 5)
        commonest = objects[:, 0].long().mode().values
        shares = functional.one_hot(commonest, self.num_classes + 1)
        return torch.cat((shares.to(objects), objects[:, 1:].mean(dim=0)))

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """What comes of the same box in every image (N, 4)."""
        return score_boxes(guess.expand(len(targets), 1, -1), targets)

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The class that is always said."""
        kind = int(self.baseline(train)[:-4].argmax())
        return f"always one {names[kind]!r}, at the mean place and of the mean size"

    def to_json(self) -> dict[str, Any]:
        """The number of classes."""
        return {"kind": "detection", "num_classes": self.num_classes, "loss": self.loss_name}
