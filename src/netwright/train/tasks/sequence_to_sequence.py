r"""Sequence to sequence: a target of another length than its source, said token by token.

    loss = -1/n sum_i log p(y_i | y_1 ... y_{i-1}, source)      the truth before it is told

While training and in the loss a decoder is told the true tokens before each; who uses it has none
to tell, and it hears what it said itself. So it is also measured that way: one early mistake may
spoil all that follows.

Shapes: B batch, N examples, S source tokens, T target tokens, V kinds of token; inputs (B, S + T),
logits (B, T, V), targets (B, T).
Source: Sutskever, Vinyals and Le (2014), arXiv 1409.3215; for teacher forcing Williams and Zipser,
"A Learning Algorithm for Continually Running Fully Recurrent Neural Networks" (1989).
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED
from netwright.data.text.tokenizer import BOS, EOS
from netwright.decoding.source_decoder import SourceDecoder, say_greedily
from netwright.metrics.catalog import Kind
from netwright.metrics.samples import weighted_mean
from netwright.metrics.tokens import sequence_accuracy
from netwright.train.tasks.per_token import PerToken


class SequenceToSequence(PerToken):
    """Cross-entropy where the truth is told; measured also where the model hears itself."""

    kind: ClassVar[str] = "sequence-to-sequence"
    target: ClassVar[Kind] = "tokens"

    def answers(self, model: nn.Module, inputs: Tensor, output: Tensor | Output) -> Tensor:
        """The likeliest tokens where the truth is told, and those said freely: (B, 2, T)."""
        if not isinstance(model, SourceDecoder):
            raise ConfigError(
                "sequence-to-sequence training needs a model with a source and a target "
                f"(SourceDecoder), got {module_name(model)}"
            )
        told = logits_of(output).argmax(dim=2)
        length = told.shape[1]
        source = inputs[:, : inputs.shape[1] - length]
        return torch.stack((told, say_greedily(model, source, length, begin=BOS, end=EOS)), dim=1)

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The tokens themselves (N, 2, T): no more than the targets."""
        return predictions

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """The commonest token everywhere, told or not."""
        return guess.argmax().expand(len(targets), 2, targets.shape[1])

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Right tokens where the truth is told, and freely said; sequences all right, freely."""
        told, free = compared.unbind(dim=1)
        return {
            "accuracy": _token_accuracy(told, targets, weights),
            "free_accuracy": _token_accuracy(free, targets, weights),
            "sequence_accuracy": sequence_accuracy(free, targets, weights),
        }

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """That it is one token."""
        return "always the most common token of the training targets"


def _token_accuracy(said: Tensor, targets: Tensor, weights: Tensor | None) -> float:
    """The share of right tokens among those that count, of all examples together."""
    counts = targets != IGNORED
    sums = torch.stack(((said == targets).sum(dim=1), counts.sum(dim=1)), dim=1)  # (N, 2)
    right, counted = weighted_mean(sums, weights)
    return float(right / counted)
