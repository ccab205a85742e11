r"""Spans: where in a text the answer to a question begins, and where it ends.

    loss = -1/2 (log p_begin(s) + log p_end(e)),    softmax over the places of the context
    said = argmax_{s <= e < s + 30} a_s + b_e

Targets hold the context first, then the answers: (N, 1 + A, 2) places, IGNORED where there is no
answer, or where it was cut off. The first answer is learned from, all of them are measured by. An
example without any is not in the loss, nor in the measure that is shown while training; in the
results it counts as missed.

Shapes: B batch, N examples, T tokens of a question and its context, A answers; logits (B, T, 2).
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 4.2.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.outputs import Output, logits_of
from netwright.core.trees import Tree
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED
from netwright.data.text.spans.span_encoder import context_of
from netwright.metrics.catalog import Kind
from netwright.metrics.spans import measure_spans, score_spans
from netwright.train.tasks.task import Task, exact, weighted

LONGEST = 30  # tokens of an answer that is said
GUESSED = (32, 64)  # beginnings and lengths among which the best trivial span is looked for
GUESSED_ON = 1_000  # training rows, spread over all of them


class Spans(Task):
    """Cross-entropy of the first and the last place; exact match and F1 of the said span."""

    target: ClassVar[Kind] = "span"
    headline: ClassVar[str] = "exact_match"
    loss_name = "cross-entropy"

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean over examples whose answer is in the text."""
        context, first = batch.targets[:, 0], batch.targets[:, 1]
        scores = _inside(logits, context).mT.flatten(0, 1)  # (2 B, T)
        losses = functional.cross_entropy(
            scores, first.flatten(), ignore_index=IGNORED, reduction="none"
        )
        each = weighted(losses.view(-1, 2).mean(dim=1), batch.weights)
        return each.sum() / self.counted(batch.targets).clamp_min(1)

    def counted(self, targets: Tensor) -> Tensor:
        """The examples whose answer is in the text."""
        return (targets[:, 1, 0] != IGNORED).sum()

    def counted_each(self, targets: Tensor) -> Tensor:
        """Which ones these are (N,), 1 or 0."""
        return (targets[:, 1, 0] != IGNORED).long().cpu()

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """How many spans are right."""
        said = best_spans(exact(logits_of(output)), targets[:, 0])
        return weighted(score_spans(said, targets[:, 1:])[:, 0], weights).sum()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """The probability of each place to be the first, and to be the last (N, T, 2)."""
        return exact(logits_of(output)).softmax(dim=1)

    def answers(self, model: nn.Module, inputs: Tree, output: Tensor | Output) -> Tensor:
        """The best span within the context (N, 2)."""
        return best_spans(exact(logits_of(output)), context_of(inputs))

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Exact match and F1 of each example (N, 2)."""
        return score_spans(predictions, targets[:, 1:])

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Exact match and F1 of all examples, those without an answer in the text included."""
        return measure_spans(compared, weights)

    def baseline(self, train: Split) -> Tensor:
        """The span (2,) with the best F1: how far behind the context's first token, how long."""
        rows = torch.linspace(0, len(train) - 1, min(len(train), GUESSED_ON)).long()
        targets = train.targets[rows.to(train.targets.device)].cpu()
        firsts, sizes = (torch.arange(count) for count in GUESSED)
        guesses = torch.cartesian_prod(firsts, sizes + 1)
        scores = [float(self.guessed(guess, targets)[:, 1].mean()) for guess in guesses]
        return guesses[scores.index(max(scores))].float()

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """What comes of the same place and length in every context (N, 2)."""
        begin, size = guess.long().tolist()
        context = targets[:, 0]
        said = context[:, :1] + torch.tensor([begin, begin + size - 1])
        return score_spans(torch.minimum(said, context[:, 1:]), targets[:, 1:])

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """Which tokens are always said."""
        begin, size = self.baseline(train).long().tolist()
        return f"always tokens {begin + 1} to {begin + size} of the context, the best fixed span"

    def to_json(self) -> dict[str, Any]:
        """There is nothing to choose."""
        return {"kind": "spans", "loss": self.loss_name}


def best_spans(logits: Tensor, context: Tensor) -> Tensor:
    """The likeliest spans (B, 2) of logits (B, T, 2) within the contexts (B, 2)."""
    scores = _inside(logits, context)
    pairs = scores[:, :, None, 0] + scores[:, None, :, 1]  # (B, T, T): first, last
    places = torch.arange(logits.shape[1], device=logits.device)
    size = places - places[:, None]
    pairs = pairs.masked_fill((size < 0) | (size >= LONGEST), -torch.inf)
    best = pairs.flatten(1).argmax(dim=1)
    return torch.stack((best // len(places), best % len(places)), dim=1)


def _inside(logits: Tensor, context: Tensor) -> Tensor:
    """The logits (B, T, 2), minus infinity outside of the contexts (B, 2)."""
    places = torch.arange(logits.shape[1], device=logits.device)
    is_inside = (places >= context[:, :1]) & (places <= context[:, 1:])
    return logits.masked_fill(~is_inside[:, :, None], -torch.inf)
