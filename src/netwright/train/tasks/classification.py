"""One class of several: cross-entropy or a margin, accuracy, probabilities by the softmax.

Shapes: B batch, C classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.catalog import LOSSES
from netwright.losses.classification import cross_entropy
from netwright.metrics.catalog import OF_DECISIONS, Kind, measure_all
from netwright.metrics.isotonic import RisingCurve, honest_probabilities
from netwright.metrics.labels import is_yes
from netwright.train.tasks.task import Task, exact, mean_loss, weighted


class Classification(Task):
    """Cross-entropy -log p(y | x), where p is the softmax of the logits, or another loss.

    Args:
        num_classes: C.
        class_weights: how much each class counts (C,), or None; see `balanced_weights`.
        loss: a name in the catalog of losses.
        smoothing: eps of label smoothing, as torch has it: eps / C for every class.
        loss_options: settings of the loss: delta, gamma ...
        threshold: of two classes, the probability above which the second is meant; None: 0.5.
        temperature: by which logits are divided before they become probabilities; None: 1.
        curves: which probabilities go through to become honest; none: they stay as they are.
    """

    target: ClassVar[Kind] = "class"
    headline: ClassVar[str] = "accuracy"

    def __init__(
        self,
        num_classes: int,
        class_weights: Tensor | None = None,
        *,
        loss: str = "cross-entropy",
        smoothing: float = 0.0,
        loss_options: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        temperature: float | None = None,
        curves: tuple[RisingCurve, ...] = (),
    ) -> None:
        self.threshold, self.temperature, self.curves = threshold, temperature, curves
        self.num_classes, self.class_weights = num_classes, class_weights
        self.loss_name, self.smoothing = loss, smoothing
        self.loss_options = dict(loss_options or {})
        self._loss = LOSSES.load(loss).function(loss, "class", self.loss_options)
        if smoothing:
            if loss != "cross-entropy":
                raise ConfigError(f"label_smoothing is for cross-entropy, the loss is {loss!r}")
            self._loss = partial(cross_entropy, smoothing=smoothing)

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss; class and sample weights multiply.

        Targets may be soft, (B, C): each class counts by its weight, -sum_c w_c t_c log p_c.
        """
        targets, weights = batch.targets, batch.weights
        if self.class_weights is not None:
            of_class = self.on(logits.device, self.class_weights)
            if targets.ndim == 1:
                counts = of_class[targets]
            else:
                parts = targets * of_class
                counts = parts.sum(dim=1)
                targets = parts / counts.clamp_min(torch.finfo(counts.dtype).tiny)[:, None]
            weights = counts if weights is None else weights * counts
        return mean_loss(self._loss, logits, targets, weights)

    def check_logits(self, logits: Tensor) -> None:
        """Log-likelihoods are of log-probabilities, which logits are not."""
        if self.loss_name != "nll":
            return
        total = float(exact(logits[0]).exp().sum())
        if abs(total - 1) > 1e-2:
            raise ConfigError(
                "the loss 'nll' expects log-probabilities, whose probabilities sum to 1, not to "
                f"{total:.4g}; for logits use 'cross-entropy'"
            )

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """How many examples of the batch are right."""
        return weighted(logits_of(output).argmax(dim=1) == targets, weights).sum()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, C), calibrated where there is a temperature, or curves."""
        logits = exact(logits_of(output))
        said = (logits if self.temperature is None else logits / self.temperature).softmax(dim=1)
        return honest_probabilities(said, self.curves) if self.curves else said

    def decide(self, probabilities: Tensor) -> Tensor:
        """The class (N,) for probabilities (N, C): the likeliest, or what the threshold says."""
        if self.threshold is None:
            return probabilities.argmax(dim=1)
        return is_yes(probabilities[:, 1], self.threshold).long()

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Every metric; with a threshold those of decisions are of what it decides."""
        measured = super().measure(compared, targets, weights)
        if self.threshold is None:
            return measured
        decided = one_hot(self.decide(compared), self.num_classes).to(compared)
        at_threshold = measure_all("class", decided, targets, weights)
        return measured | {name: at_threshold[name] for name in OF_DECISIONS if name in measured}

    def measure_guess(
        self, guess: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Of the trivial guess, whose answer is the commonest class whatever the threshold."""
        return super().measure(self.guessed(guess, targets), targets, weights)

    def baseline(self, train: Split) -> Tensor:
        """The class shares of the training rows; the commonest class is the prediction."""
        shares = class_sums(train, self.num_classes)
        return shares / shares.sum()

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The commonest class and its share."""
        share, place = self.baseline(train).max(dim=0)
        return f"always {names[int(place)]!r}, {float(share):.2%} of the training rows"

    def to_json(self) -> dict[str, Any]:
        """The number of classes, how much each counts, and the loss."""
        weights = None if self.class_weights is None else self.class_weights.tolist()
        kept: dict[str, Any] = {"threshold": self.threshold, "temperature": self.temperature}
        if self.curves:
            kept["curves"] = [asdict(curve) for curve in self.curves]
        return {
            "kind": "classification",
            "num_classes": self.num_classes,
            "class_weights": weights,
            "loss": self.loss_name,
            "smoothing": self.smoothing,
            "loss_options": self.loss_options,
            **{name: value for name, value in kept.items() if value is not None},
        }


def balanced_weights(train: Split, num_classes: int) -> Tensor:
    """Weight n / (C n_c): every class counts the same in all (King and Zeng, 2001)."""
    counts = class_sums(train, num_classes)
    return counts.sum() / (num_classes * torch.where(counts > 0, counts, torch.ones(())))


def class_sums(train: Split, num_classes: int) -> Tensor:
    """The rows of each class (C,), or the pixels, each counting as its row's weight says."""
    targets, weights = train.targets.cpu(), train.weights
    if weights is not None:
        of_row = weights.cpu().double().view(-1, *(1 for _ in targets.shape[1:]))
        weights = of_row.expand_as(targets).flatten()
    return torch.bincount(targets.flatten(), weights, minlength=num_classes).float()
