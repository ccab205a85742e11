"""The loss that a module computes itself where it is given labels, as those of transformers do.

    module(**inputs, labels=targets).loss

What it predicts is taken from the same output, and measured as that of any model.

Shapes: B batch, T tokens.
"""

import inspect
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn

from netwright.core.adapted_module import AdaptedModule, parts_of_output
from netwright.core.errors import ConfigError
from netwright.core.trees import Tree
from netwright.data.batches.reading import TARGET_KEYS
from netwright.data.loading.loader import Batch
from netwright.train.own.loss import LossCallable, OwnLoss

MODEL: Final = "model"  # so it is asked for: loss="model"
WAY_OUT = "name a loss, or give a function of (output, targets)"


class ModelLoss(OwnLoss):
    """The mean loss of a batch as the module itself computes it.

    Args:
        module: the user's own, which takes labels.
        predicts_next: targets are the tokens that follow each input. A causal language model
            compares what it says of token t with label t + 1, so labels are these tokens one place
            later, and what follows the last input has no part in the loss.
    """

    def __init__(self, module: nn.Module, *, predicts_next: bool = False) -> None:
        super().__init__(loss_part, MODEL)
        own = module.own if isinstance(module, AdaptedModule) else module
        self.arguments = list(inspect.signature(own.forward).parameters)
        named = [name for name in TARGET_KEYS if name in self.arguments]
        if not named:
            raise ConfigError(
                f"loss='model' needs a module whose forward takes labels, that of "
                f"{type(own).__name__} takes {', '.join(self.arguments)}: {WAY_OUT}"
            )
        if not isinstance(module, AdaptedModule):
            raise ConfigError(
                f"loss='model' needs a module that returns its loss and its prediction by name, "
                f"{type(own).__name__} returns one tensor: {WAY_OUT}"
            )
        self.labels, self.predicts_next = named[0], predicts_next

    def inputs(self, batch: Batch) -> Tree:
        """The inputs by the names that forward has for them, with the labels."""
        inputs: Any = batch.inputs
        if isinstance(inputs, Tensor):
            inputs = (inputs,)
        if not isinstance(inputs, dict):
            inputs = dict(zip(self.arguments, inputs, strict=False))
        return {**inputs, self.labels: self._labels(batch.targets)}

    def _labels(self, targets: Tensor) -> Tensor:
        """Of next tokens (B, T) the tokens themselves; the first one is compared with nothing."""
        return (
            torch.cat([targets[:, :1], targets[:, :-1]], dim=1) if self.predicts_next else targets
        )


def build_own_loss(
    loss: LossCallable | Literal["model"], module: nn.Module, *, predicts_next: bool
) -> OwnLoss:
    """The loss that was handed over, or that of the module; see `ModelLoss`."""
    if loss == MODEL:
        return ModelLoss(module, predicts_next=predicts_next)
    return OwnLoss(loss)


def loss_part(output: Any, targets: Tensor) -> Tensor:
    """What a module that was given labels calls its loss."""
    loss = parts_of_output(output).get("loss")
    if not isinstance(loss, Tensor):
        raise ConfigError(
            f"loss='model' needs a module that returns its loss as 'loss' where it is given "
            f"labels, got {type(output).__name__}: {WAY_OUT}"
        )
    return loss
