r"""Language modelling: each token from those before it.

    loss = -1/n sum_t log p(x_t | x_1 ... x_{t-1})        in nats a token; perplexity = exp(loss)

What is kept of a text are three sums, never its probabilities, which are T x V numbers.

Shapes: B batch, N examples, T tokens, V kinds of token; logits (B, T, V), targets (B, T).
Source: Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model" (2003).
"""

from collections.abc import Sequence
from typing import ClassVar

from torch import Tensor

from netwright.core.checks import check_finite
from netwright.data.dataset import Split
from netwright.metrics.catalog import Kind
from netwright.metrics.tokens import guessed_sums, measure_tokens, token_sums
from netwright.train.tasks.per_token import PerToken


class LanguageModelling(PerToken):
    """The next token at every place: cross-entropy, perplexity, bits a token."""

    kind: ClassVar[str] = "language-modelling"
    target: ClassVar[Kind] = "tokens"
    targets_follow: ClassVar[bool] = True  # each is the token after its input, not the input itself

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
