"""One answer a token: what language modelling and tagging have in common.

The mean loss is over the tokens that count, of all texts together: a long text counts more than a
short one, and filling up with padding changes nothing. Where tokens are of many kinds, a model that
can stop short of its logits does so, and they are made a few places at a time: see
`losses/linear_cross_entropy.py`.

Shapes: B batch, N examples, T tokens, C kinds of answer; logits (B, T, C), targets (B, T).
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED
from netwright.losses.catalog import LOSSES
from netwright.losses.linear_cross_entropy import ScoredTokens, linear_cross_entropy, pays_in_parts
from netwright.losses.sequence import token_cross_entropy
from netwright.train.tasks.task import Task, exact, weighted

LARGE_VOCABULARY = 4096  # kinds of token from which on logits are made in parts
MOST_AT_ONCE = 2**28  # logits beside training, where it makes them in parts: 1 GB in float32
ROWS_TOGETHER = 4096  # whose targets are counted at a time: windows may overlap, and be views


class PerToken(Task):
    """Cross-entropy -log p(y_t | x) of each token that counts, where p is the softmax.

    While training the share of right tokens is shown: it takes no second softmax of the logits,
    which are the largest thing in memory.

    Args:
        num_classes: C, different tokens or tags.
        loss: a name in the catalog of losses.
        smoothing: eps of label smoothing, as torch has it: eps / C for every class.
        loss_options: settings of the loss: delta, gamma ...
    """

    kind: ClassVar[str]
    headline: ClassVar[str] = "accuracy"

    def __init__(
        self,
        num_classes: int,
        *,
        loss: str = "cross-entropy",
        smoothing: float = 0.0,
        loss_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.num_classes, self.loss_name, self.smoothing = num_classes, loss, smoothing
        self.loss_options = dict(loss_options or {})
        self._loss = LOSSES.load(loss).function(
            loss, "tags" if self.target == "tags" else "tokens", self.loss_options
        )
        if smoothing:
            if loss != "cross-entropy":
                raise ConfigError(f"label_smoothing is for cross-entropy, the loss is {loss!r}")
            self._loss = partial(token_cross_entropy, smoothing=smoothing)

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss of the tokens that count; a token counts as much as its text.

        It is divided by tokens, not by their weights, as weights differ by batch: weighted, it is
        not quite the mean that `measure` takes over all tokens.
        """
        counted: Tensor = (batch.targets != IGNORED).sum(dim=1)  # (B,)
        sums = self._loss(logits, batch.targets) * counted
        return weighted(sums, batch.weights).sum() / counted.sum().clamp_min(1)

    @property
    def scores_in_parts(self) -> bool:
        """Where the loss is cross-entropy as it is, of many kinds of token; tags are few."""
        is_plain = self.loss_name == "cross-entropy" and not self.smoothing and not self.own_loss
        return is_plain and self.target == "tokens" and self.num_classes >= LARGE_VOCABULARY

    def rows_at_once(self, batch: Batch) -> int:
        """As many texts as have few logits, for callers that want them whole; one at least."""
        rows = super().rows_at_once(batch)
        if not self.scores_in_parts:
            return rows
        logits_each: int = max(1, batch.targets.shape[1]) * self.num_classes
        return max(1, min(rows, MOST_AT_ONCE // logits_each))

    def score(
        self, output: Tensor | Output | UnscoredTokens, batch: Batch
    ) -> tuple[Tensor | Output, Tensor]:
        """The likeliest token of each place (B, T), or the logits if they are there; the loss."""
        if not isinstance(output, UnscoredTokens) or not self.scores_in_parts:
            return super().score(output, batch)
        if not pays_in_parts(batch.targets.numel(), output.weight):
            return super().score(output.logits, batch)
        scored = self.scored(output, batch.targets, batch.weights)
        counted = self.counted(batch.targets).clamp_min(1)
        return scored.told, scored.loss / counted

    def scored(
        self, unscored: UnscoredTokens, targets: Tensor, weights: Tensor | None = None
    ) -> ScoredTokens:
        """The loss of all places of the texts, and their likeliest tokens (B, T)."""
        shape = targets.shape
        scored = linear_cross_entropy(
            unscored.vectors.flatten(0, 1),
            unscored.weight,
            unscored.bias,
            targets.flatten(),
            None if weights is None else weights[:, None].expand(shape).flatten(),
        )
        return scored._replace(told=scored.told.view(shape))

    def counted(self, targets: Tensor) -> Tensor:
        """The tokens that count, a number on the device."""
        return (targets != IGNORED).sum()

    def counted_each(self, targets: Tensor) -> Tensor:
        """The tokens of each text that count (N,)."""
        parts = torch.split(targets, ROWS_TOGETHER)
        return torch.cat([(part != IGNORED).sum(dim=1) for part in parts]).cpu()

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """How many tokens of the batch are right; what is ignored never is.

        Args:
            output: logits (B, T, C), or what they said already, the likeliest of each place (B, T).
            targets: the true ones.
            weights: of the texts (B,).
        """
        given = logits_of(output)
        told = given.argmax(dim=2) if given.ndim == 3 else given
        return weighted((told == targets).sum(dim=1), weights).sum()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, T, C)."""
        return exact(logits_of(output)).softmax(dim=2)

    @abstractmethod
    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """See `Task.compared`: never the predictions themselves."""

    @abstractmethod
    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """See `Task.guessed`."""

    def baseline(self, train: Split) -> Tensor:
        """The shares of the training targets (C,), each counted once more than it occurs.

        So none is impossible, and a token that first comes later costs much, not infinitely much
        (Laplace's rule).
        """
        counts = target_counts(train, self.num_classes) + 1
        return counts / counts.sum()

    def to_json(self) -> dict[str, Any]:
        """The kind, the number of answers and the loss."""
        return {
            "kind": self.kind,
            "num_classes": self.num_classes,
            "loss": self.loss_name,
            "smoothing": self.smoothing,
            "loss_options": self.loss_options,
        }


def target_counts(train: Split, num_classes: int) -> Tensor:
    """How often each token or tag is a target that counts (C,), times the weight of its text."""
    counts = torch.zeros(num_classes, dtype=torch.float64)
    every = torch.arange(len(train), device=train.targets.device)
    for rows in torch.split(every, ROWS_TOGETHER):
        targets = train.targets[rows].cpu()
        amounts = torch.ones(len(rows)) if train.weights is None else train.weights[rows].cpu()
        counts_here = targets != IGNORED
        each = amounts.double()[:, None].expand_as(targets)[counts_here]
        counts += torch.bincount(targets[counts_here], each, minlength=num_classes)
    return counts.float()
