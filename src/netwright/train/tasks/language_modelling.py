r"""Language modelling: each token from those before it.

    loss = -1/n sum_t log p(x_t | x_1 ... x_{t-1})        in nats a token; perplexity = exp(loss)

What is kept of a text are three sums, never its probabilities, which are T x V numbers. Where V is
large, a model that can stop short of its logits does so, and they are made a few places at a time:
see `losses/linear_cross_entropy.py`.

Shapes: B batch, N examples, T tokens, V kinds of token; logits (B, T, V), targets (B, T).
Source: Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model" (2003).
"""

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.outputs import Output, UnscoredTokens
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.linear_cross_entropy import ScoredTokens, linear_cross_entropy, pays_in_parts
from netwright.metrics.catalog import Kind
from netwright.metrics.tokens import guessed_sums, measure_tokens, token_sums
from netwright.train.tasks.per_token import PerToken

LARGE_VOCABULARY = 4096  # kinds of token from which on logits are made in parts
MOST_AT_ONCE = 2**28  # logits beside training, where it makes them in parts: 1 GB in float32


class LanguageModelling(PerToken):
    """The next token at every place: cross-entropy, perplexity, bits a token."""

    kind: ClassVar[str] = "language-modelling"
    target: ClassVar[Kind] = "tokens"
    targets_follow: ClassVar[bool] = True  # each is the token after its input, not the input itself

    @property
    def scores_in_parts(self) -> bool:
        """Where the loss is cross-entropy as it is, of many kinds of token."""
        is_plain = self.loss_name == "cross-entropy" and not self.smoothing and not self.own_loss
        return is_plain and self.num_classes >= LARGE_VOCABULARY

    def rows_at_once(self, batch: Batch) -> int:
        """As many texts as have few logits, for who wants them whole; one at least."""
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

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Tokens that count, those that are right, and nats, of each text (N, 3)."""
        check_finite("probabilities", predictions)
        return token_sums(predictions, targets)

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """The sums of each text if every token is expected as often as in training, wherever."""
        return guessed_sums(guess, targets)

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Accuracy, perplexity and bits a token, of all texts together."""
        return measure_tokens(compared, weights)

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """That it is the shares of the tokens."""
        return "each token as often as in the training text, whatever came before"
