"""Tagging: the class of each token of a text, such as its part of speech.

Shapes: B batch, N examples, T tokens, C tags; logits (B, T, C), targets (B, T).
Source: Church, "A Stochastic Parts Program and Noun Phrase Parser for Unrestricted Text" (1988).
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.data.dataset import Split
from netwright.metrics.catalog import Kind
from netwright.metrics.tokens import measure_tags
from netwright.train.tasks.per_token import PerToken


class Tagging(PerToken):
    """A tag for every token: cross-entropy, right tags, texts without a mistake, F1 of the tags.

    The trivial guess gives every token the commonest tag. Who knows the words does much better
    with the commonest tag of each.
    """

    kind: ClassVar[str] = "tagging"
    target: ClassVar[Kind] = "tags"

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The likeliest tag of each token (N, T)."""
        check_finite("probabilities", predictions)
        return predictions.argmax(dim=2)

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """The commonest tag everywhere (N, T)."""
        return torch.full_like(targets, int(guess.argmax()))

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Right tags, texts without a mistake, and the F1 of the tags."""
        return measure_tags(compared, targets, self.num_classes, weights)

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The commonest tag and its share."""
        share, place = self.baseline(train).max(dim=0)
        return f"always {names[int(place)]!r}, {float(share):.2%} of the training tokens"
