"""One class for each pixel: cross-entropy or Dice, measured by the overlap of masks.

What is kept of an image is its table of counts (C, C), never its probabilities: a thousand large
images are measured in no more memory than a batch of them.

Shapes: B batch, N examples, C classes, I rows, J columns; logits (B, C, I, J), targets (B, I, J).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.catalog import LOSSES
from netwright.losses.segmentation import pixel_cross_entropy
from netwright.metrics.catalog import Kind
from netwright.metrics.segmentation import dice, mask_tables, measure_masks
from netwright.train.tasks.classification import class_sums
from netwright.train.tasks.task import Task, exact, mean_loss


class Segmentation(Task):
    """The mean over pixels of the cross-entropy, or another loss of masks.

    While training the mean Dice of the classes is shown: pixels that are right would look good
    where a rare class is never found. It is that of all pixels together, not a mean over images.

    Args:
        class_names: C of them, for the measures of each class.
        class_weights: how much a pixel of each class counts, or a class in Dice (C,), or None.
        loss: a name in the catalog of losses.
        smoothing: eps of label smoothing, as torch has it: eps / C for every class.
        loss_options: settings of the loss: delta, gamma ...
    """

    target: ClassVar[Kind] = "mask"
    headline: ClassVar[str] = "dice"

    def __init__(
        self,
        class_names: Sequence[str],
        class_weights: Tensor | None = None,
        *,
        loss: str = "cross-entropy",
        smoothing: float = 0.0,
        loss_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.class_names, self.class_weights = tuple(class_names), class_weights
        self.loss_name, self.smoothing = loss, smoothing
        self.loss_options = dict(loss_options or {})
        self._loss = LOSSES.load(loss).function(loss, "mask", self.loss_options)
        if loss == "cross-entropy":
            self._loss = partial(pixel_cross_entropy, smoothing=smoothing)
        elif smoothing:
            raise ConfigError(f"label_smoothing is for cross-entropy, the loss is {loss!r}")

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.class_names)

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss of the images; class and sample weights multiply."""
        loss: Callable[..., Tensor] = self._loss  # each of masks takes the weights of classes
        if self.class_weights is not None:
            loss = partial(loss, class_weights=self.on(logits.device, self.class_weights))
        return mean_loss(loss, logits, batch.targets, batch.weights)

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """The shares of an image's pixels by class and answer, summed over images (C, C)."""
        shares = self._tables(logits_of(output), targets) / targets[0].numel()
        amounts = shares.new_ones(len(shares)) if weights is None else weights.to(shares)
        return torch.einsum("b,bjk->jk", amounts, shares)

    @property
    def headline_shape(self) -> tuple[int, ...]:
        """A table of the classes."""
        return (self.num_classes, self.num_classes)

    def headline_value(self, mean: Tensor) -> float:
        """The Dice of all pixels together, the mean over classes."""
        return dice(mean)

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, C, I, J)."""
        return exact(logits_of(output)).softmax(dim=1)

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The table of each image (N, C, C)."""
        check_finite("probabilities", predictions)
        return self._tables(predictions, targets)

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Every metric of masks, and IoU and Dice of each class."""
        return measure_masks(compared, self.class_names, weights)

    def baseline(self, train: Split) -> Tensor:
        """The class shares of the training pixels; the commonest class is said everywhere."""
        shares = class_sums(train, self.num_classes)
        return shares / shares.sum()

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """The table of each image if the commonest class is said everywhere."""
        counts = torch.stack(
            [torch.bincount(mask.flatten(), minlength=self.num_classes) for mask in targets]
        )  # (N, C)
        commonest = torch.arange(self.num_classes) == guess.argmax()
        return counts[:, :, None] * commonest  # (N, C, C): one column is not zero

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The commonest class and its share."""
        share, place = self.baseline(train).max(dim=0)
        return f"always {names[int(place)]!r}, {float(share):.2%} of the training pixels"

    def to_json(self) -> dict[str, Any]:
        """The names of the classes, how much each counts, and the loss."""
        weights = None if self.class_weights is None else self.class_weights.tolist()
        return {
            "kind": "segmentation",
            "class_names": list(self.class_names),
            "class_weights": weights,
            "loss": self.loss_name,
            "smoothing": self.smoothing,
            "loss_options": self.loss_options,
        }

    def _tables(self, scores: Tensor, targets: Tensor) -> Tensor:
        return mask_tables(targets, scores.argmax(dim=1), self.num_classes)
