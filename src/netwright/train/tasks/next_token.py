"""Language modelling where the targets are the tokens themselves, as ready batches have them.

    loss = -1/n sum_t log p(x_{t+1} | x_1 ... x_t)

The output at place t is compared with the target at t + 1; the last output with none. So do the
causal models of transformers with their labels.

Shapes: B batch, N examples, T tokens, V kinds of token; logits (B, T, V), targets (B, T).
"""

from typing import ClassVar

from torch import Tensor
from torch.nn import functional as F

from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED
from netwright.losses.linear_cross_entropy import ScoredTokens
from netwright.train.tasks.language_modelling import LanguageModelling


class NextToken(LanguageModelling):
    """The next token at every place but the last."""

    kind: ClassVar[str] = "next-token"
    targets_follow: ClassVar[bool] = False

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """See `PerToken.loss_of`."""
        return super().loss_of(logits[:, :-1], batch._replace(targets=batch.targets[:, 1:]))

    def scored(
        self, unscored: UnscoredTokens, targets: Tensor, weights: Tensor | None = None
    ) -> ScoredTokens:
        """See `LanguageModelling.scored`; of the last place nothing counts."""
        return super().scored(unscored, F.pad(targets[:, 1:], (0, 1), value=IGNORED), weights)

    def counted(self, targets: Tensor) -> Tensor:
        """See `Task.counted`."""
        return super().counted(targets[:, 1:])

    def counted_each(self, targets: Tensor) -> Tensor:
        """See `Task.counted_each`."""
        return super().counted_each(targets[:, 1:])

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """See `Task.headline_sum`."""
        return super().headline_sum(logits_of(output)[:, :-1], targets[:, 1:], weights)

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """See `LanguageModelling.compared`."""
        return super().compared(predictions[:, :-1], targets[:, 1:])

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """See `LanguageModelling.guessed`."""
        return super().guessed(guess, targets[:, 1:])

    def baseline(self, train: Split) -> Tensor:
        """The shares of the tokens that are predicted; see `PerToken.baseline`."""
        return super().baseline(train.with_targets(train.targets[:, 1:], train.weights))
