"""What a model is trained for: the loss, the running measure, the predictions, the baseline.

Shapes: B batch, N examples, C classes or labels, K reals, I rows and J columns of a mask.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.core.trees import Tree, count_rows
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.losses.loss import LossFunction
from netwright.metrics.catalog import Kind, measure_all
from netwright.train.own.loss import OwnLoss
from netwright.train.own.metrics import OwnMetric, measure_own

_EXACT = (torch.float32, torch.float64)


class Task(ABC):
    """Losses and measures for one kind of target; models know nothing of it.

    `headline` names the measure that is shown while training beside the loss; empty: there is none.
    It is kept as a sum over examples, so that a step adds one number on the device and nothing
    waits for it.
    """

    target: ClassVar[Kind]
    headline: ClassVar[str]
    loss_name: str
    on_host: ClassVar[str] = ""  # what its loss does there, so that no CUDA graph can; empty: none
    aux_weight: float = 0.3
    own_loss: OwnLoss | None = None  # of the caller's, in the place of the one that is named
    unmeasured: str = ""  # why nothing is measured but losses of training; empty: all is
    own_metrics: Mapping[str, OwnMetric] = MappingProxyType({})  # beside those of the table
    threshold: float | None = None  # of two classes, above which the second is meant; None: 0.5

    def __repr__(self) -> str:
        name = self.to_json()["loss"] if self.own_loss is None else self.own_loss.name
        return f"{type(self).__name__}(loss={name!r})"

    def inputs(self, batch: Batch) -> Tree:
        """What a model is called with where its loss is wanted: with labels if it computes that."""
        return batch.inputs if self.own_loss is None else self.own_loss.inputs(batch)

    def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
        """The mean of weight times loss over a batch; without weights all count 1.

        Auxiliary heads, where the model has some, add `aux_weight` times their own loss each
        (Szegedy et al., 2015), so that layers near the input are taught without a long way.
        """
        if self.own_loss is not None:
            return self.own_loss(output, batch)
        loss = self.loss_of(exact(logits_of(output)), batch)
        for logits in output.aux if isinstance(output, Output) else ():
            loss = loss + self.aux_weight * self.loss_of(exact(logits), batch)
        return loss

    @property
    def scores_in_parts(self) -> bool:
        """Whether `score` takes tokens that are not scored yet, in the place of their logits."""
        return False

    def rows_at_once(self, batch: Batch) -> int:
        """Rows of a batch whose logits are made at once: all, unless training makes none whole."""
        return count_rows(batch.inputs)

    def score(
        self, output: Tensor | Output | UnscoredTokens, batch: Batch
    ) -> tuple[Tensor | Output, Tensor]:
        """What the measures need of an output, which is all of it, and its `loss`."""
        if isinstance(output, UnscoredTokens):
            output = output.logits
        return output, self.loss(output, batch)

    @abstractmethod
    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The loss of one head, as in `loss`."""

    def on(self, device: torch.device, constant: Tensor) -> Tensor:
        """A tensor of the task where it is used; brought there once, so that no step waits."""
        if constant.device == device:
            return constant
        kept: dict[torch.device, list[tuple[Tensor, Tensor]]] = vars(self).setdefault("_there", {})
        there = next((copy for own, copy in kept.get(device, ()) if own is constant), None)
        if there is None:
            there = constant.to(device)
            kept.setdefault(device, []).append((constant, there))
        return there

    def counted(self, targets: Tensor) -> Tensor | int:
        """How many things the mean loss of a batch is over: its examples, or tokens that count.

        Sums over batches are divided by the sum of these. It must not wait for the device.
        """
        return len(targets)

    def counted_each(self, targets: Tensor) -> Tensor | None:
        """`counted` of each example alone (N,), on the CPU; None: they all count the same."""
        return None

    def check_logits(self, logits: Tensor) -> None:  # noqa: B027 - most losses take any reals
        """Refuse outputs (B, ...) that the loss is not for; asked once, of the first batch."""

    def with_headline(self, loss: float, mean: Tensor) -> dict[str, float]:
        """The mean loss and the headline measure, from its mean, by their names."""
        shown = {self.headline: self.headline_value(mean)} if self.headline else {}
        return {"loss": loss, **shown}

    @abstractmethod
    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """The headline measure times weight, summed over what `counted` counts."""

    @abstractmethod
    def predictions(self, output: Tensor | Output) -> Tensor:
        """Probabilities (N, C) or (N, C, I, J), or reals (N, K) in the units of the targets."""

    def answers(self, model: nn.Module, inputs: Tree, output: Tensor | Output) -> Tensor:
        """What is measured of a model that gave this output: here its predictions.

        A task whose answers are not in one output asks the model again.
        """
        return self.predictions(output)

    @abstractmethod
    def baseline(self, train: Split) -> Tensor:
        """The one prediction (C,) for all examples of who knows the training targets only."""

    @abstractmethod
    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The trivial guess in words; `names` are those of the classes or targets."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """What is needed to build the task again."""

    @property
    def headline_shape(self) -> tuple[int, ...]:
        """The shape of `headline_sum`: one number, or one an output."""
        return ()

    def headline_value(self, mean: Tensor) -> float:
        """The headline measure from its mean over what `counted` counts."""
        return mean.item()

    def compared(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """What `measure` needs of a batch, an entry an example: here the predictions themselves.

        Where these are large it is less: what came of comparing them with the targets.
        """
        return predictions

    def kept(self, targets: Tree) -> Tensor:
        """What `measure` needs of the targets of a batch, an entry an example: here all."""
        kept: Tensor = targets
        return kept

    def guessed(self, guess: Tensor, targets: Tensor) -> Tensor:
        """What `compared` gives where the one prediction (C,) is made for all examples."""
        return guess.expand(len(targets), -1)

    def measure(
        self, compared: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """Every metric that is defined for what `compared` gave of all examples."""
        return {
            **measure_all(self.target, compared, targets, weights),
            **measure_own(self.own_metrics, self.target, compared, targets),
        }

    def measure_guess(
        self, guess: Tensor, targets: Tensor, weights: Tensor | None = None
    ) -> dict[str, float]:
        """The same for the one prediction (C,) that is made for all examples."""
        return self.measure(self.guessed(guess, targets), targets, weights)


def mean_loss(
    loss: LossFunction, outputs: Tensor, targets: Tensor, weights: Tensor | None
) -> Tensor:
    """The mean of weight times loss; without weights in one go."""
    if weights is None:
        return loss(outputs, targets, "mean")
    return weighted(loss(outputs, targets, "none"), weights).mean()


def weighted(values: Tensor, weights: Tensor | None) -> Tensor:
    """One value an example (B,), times its weight.

    The mean over the batch is not divided by the batch's own weights: then gradients that are added
    up, running sums and evaluation in parts would all be a little off, as weights differ by batch.
    """
    return values if weights is None else values * weights


def exact(logits: Tensor) -> Tensor:
    """Half formats as float32, for losses and sums; float32 and float64 as they are."""
    return logits if logits.dtype in _EXACT else logits.float()
