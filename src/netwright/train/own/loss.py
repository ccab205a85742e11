"""A loss of one's own: any callable of (output, targets), or an `nn.Module` that is one.

    loss(output, targets) -> the mean over the batch (), or a value an example (B,) or (B, ...)

It is given what the module returns, and the targets as they are: real ones are not standardised.
Of batches without targets it is given the inputs. Sample weights need a value an example.

Shapes: B batch.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import Output, logits_of
from netwright.core.trees import Tree, count_rows
from netwright.data.loading.loader import Batch
from netwright.train.own.names import name_of

LossCallable = Callable[[Any, Any], Tensor]


class OwnLoss:
    """The mean loss of a batch by a caller's function.

    Args:
        function: the caller's.
        name: of it, as the run's recipe and refusals have it.
    """

    def __init__(self, function: LossCallable, name: str = "") -> None:
        self.function, self.name = function, name or name_of(function)

    def __call__(self, output: Tensor | Output, batch: Batch) -> Tensor:
        """The mean of weight times loss; without weights all count 1."""
        whole = output.whole if isinstance(output, Output) else None
        value = self.function(logits_of(output) if whole is None else whole, batch.targets)
        if not isinstance(value, Tensor) or value.is_complex():
            kind = str(value.dtype) if isinstance(value, Tensor) else type(value).__name__
            raise ShapeError(f"the loss {self.name} must return a real tensor, got {kind}")
        rows = count_rows(batch.targets)
        if value.ndim and len(value) == rows:
            return _weighted_mean(value.reshape(rows, -1).mean(dim=1), batch.weights)
        if value.numel() != 1:
            raise ShapeError(
                f"the loss {self.name} must return one number or a value for each of the {rows} "
                f"examples, got shape {tuple(value.shape)}"
            )
        if batch.weights is not None:
            raise ConfigError(
                f"sample weights need a loss with a value for each example, but {self.name} "
                f"returns one number: build it with reduction='none'"
            )
        return value.reshape(())

    def inputs(self, batch: Batch) -> Tree:
        """What the model is called with where this loss is wanted."""
        return batch.inputs

    def to(self, device: torch.device) -> None:
        """Put the tensors of a loss that is a module, such as class weights, where the model is."""
        if isinstance(self.function, nn.Module):
            self.function.to(device)


def check_own_loss(loss: Any) -> None:
    """Refuse what is no loss, and one that would have to learn itself."""
    if isinstance(loss, type):
        name = loss.__name__
        raise ConfigError(f"loss is the class {name}: give an instance, as in {name}()")
    if not callable(loss):
        raise ConfigError(
            f"loss must be a name, or a function of (output, targets), got {type(loss).__name__}"
        )
    if isinstance(loss, nn.Module):
        for name, weight in loss.named_parameters():
            if weight.requires_grad:
                raise ConfigError(
                    f"the loss {name_of(loss)} has a parameter {name!r}, which would not be "
                    f"learned: make the loss a part of the module and give a training_step"
                )


def absent_loss(name: str) -> OwnLoss:
    """In the place of the loss of a run that was opened without it."""

    def refuse(output: Any, targets: Tensor) -> Tensor:
        raise ConfigError(
            f"the run was trained with a loss of your own, {name}: pass it as "
            f"open_run(folder, ..., loss=...)"
        )

    return OwnLoss(refuse, name)


def _weighted_mean(values: Tensor, weights: Tensor | None) -> Tensor:
    return (values if weights is None else values * weights).mean()
