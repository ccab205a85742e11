r"""Pre-training on masked text: the chosen tokens, and whether the second text follows the first.

    loss = -1/|M| sum_{i in M} log p(x_i)  -  1/B sum_b log p(next_b)      both means are added

The target at place 0, [CLS], is no token but whether the second text follows (0) or not (1); a
model's logits there are of these two.

Shapes: B batch, N examples, F tokens of each, V kinds of token; logits (B, F, V), targets (B, F).
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3.1.
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_finite
from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.linear_cross_entropy import ScoredTokens
from netwright.metrics.catalog import Kind
from netwright.metrics.tokens import guessed_sums, measure_tokens, token_sums
from netwright.train.tasks.per_token import PerToken, target_counts
from netwright.train.tasks.task import exact, weighted

SUMS = 3  # of the chosen tokens of an example; then one of the pair


class MaskedTokens(PerToken):
    """Cross-entropy of the chosen tokens, and of next or not, added; measured apart."""

    kind: ClassVar[str] = "masked-tokens"
    target: ClassVar[Kind] = "tokens"

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean of the chosen tokens, and that of the pairs, added."""
        parts = (slice(1, None), slice(0, 1))
        means = [
            super(MaskedTokens, self).loss_of(
                logits[:, places], batch._replace(targets=batch.targets[:, places])
            )
            for places in parts
        ]
        return means[0] + means[1]

    def scored(
        self, unscored: UnscoredTokens, targets: Tensor, weights: Tensor | None = None
    ) -> ScoredTokens:
        """See `PerToken.scored`; the mean of the pairs counts as much as that of the tokens."""
        if unscored.first is None:
            raise ConfigError("masked text needs a model that says at [CLS] whether texts follow")
        places = unscored._replace(vectors=unscored.vectors[:, 1:])
        tokens = super().scored(places, targets[:, 1:], weights)
        said = exact(unscored.first)
        nats = functional.cross_entropy(said, targets[:, 0], reduction="none")
        pairs = weighted(nats, weights).mean() * self.counted(targets).clamp_min(1)
        told = torch.cat((said.argmax(dim=1, keepdim=True), tokens.told), dim=1)
        return ScoredTokens(tokens.loss + pairs, told)

    def counted(self, targets: Tensor) -> Tensor:
        """The chosen tokens."""
        return super().counted(targets[:, 1:])

    def counted_each(self, targets: Tensor) -> Tensor:
        """The chosen tokens of each example (N,)."""
        return super().counted_each(targets[:, 1:])

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """How many of the chosen tokens are right."""
        given = logits_of(output)
        return super().headline_sum(given[:, 1:], targets[:, 1:], weights)

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Three sums of the chosen tokens, and whether the pair is right (N, 4)."""
        check_finite("probabilities", predictions)
        sums = token_sums(predictions[:, 1:], targets[:, 1:])
        is_right = predictions[:, 0].argmax(dim=1) == targets[:, 0]
        return torch.cat((sums, is_right[:, None].to(sums)), dim=1)

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """The same if each token is expected as often as in training, and every text to follow."""
        sums = guessed_sums(guess, targets[:, 1:])
        return torch.cat((sums, (targets[:, :1] == 0).to(sums)), dim=1)

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Accuracy, perplexity and bits of the chosen tokens; right pairs."""
        right = compared[:, SUMS]
        shares = torch.ones_like(right) if weights is None else weights.to(right)
        return {
            **measure_tokens(compared[:, :SUMS], weights),
            "next_accuracy": float((right * shares).sum() / shares.sum()),
        }

    def baseline(self, train: Split) -> Tensor:
        """The shares of the chosen tokens (V,), each counted once more than it occurs."""
        tokens = train.with_targets(train.targets[:, 1:], train.weights)
        counts = target_counts(tokens, self.num_classes) + 1
        return counts / counts.sum()

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """That it is the shares of the tokens."""
        return "each token as often as in the training text; every second text follows"
