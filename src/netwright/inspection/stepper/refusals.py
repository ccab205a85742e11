"""What cannot be stepped through is said before it is tried."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError, DataError
from netwright.core.outputs import Output, logits_of


def check_model(model: Any) -> None:
    """Refuse what is no module, and modules that cannot be copied."""
    if not isinstance(model, nn.Module):
        raise ConfigError(f"model must be an nn.Module, got {type(model).__name__}")
    if isinstance(model, torch.jit.ScriptModule):
        raise ConfigError(
            "a scripted model hides its operations: give the module that it was made from"
        )
    if any(is_lazy(parameter) for parameter in model.parameters()):
        raise ConfigError("the model has uninitialised lazy layers: call it once before")
    for path, part in model.named_modules():
        for name, value in vars(part).items():
            if isinstance(value, Tensor) and not value.is_leaf:
                place = f"{path}.{name}" if path else name
                raise ConfigError(
                    f"{place} was computed from other tensors and cannot be copied: use "
                    "torch.nn.utils.parametrizations, or compute it in forward"
                )


def check_inputs(x: Any) -> None:
    """Refuse what is no tensor, or an empty one."""
    if not isinstance(x, Tensor):
        raise DataError(f"x must be a tensor, got {type(x).__name__}")
    if not x.numel():
        raise DataError(f"x must have at least one element, got shape {tuple(x.shape)}")


def check_output(output: Any) -> Tensor:
    """The main output; refuse several, of which none is the main one."""
    if not isinstance(output, Tensor | Output):
        raise ConfigError(
            f"the model must give one tensor where no loss is given, got {type(output).__name__}"
        )
    return logits_of(output)


def check_targets(y: Tensor, output: Tensor) -> None:
    """Refuse targets that do not fit the output: (B, ...) real, or classes of (B, C, ...)."""
    if y.is_floating_point():
        check_shape("y", y, *output.shape)
        return
    place = min(1, output.dim() - 1)  # of the classes
    classes = output.shape[place] if output.dim() else 0
    if classes < 2:
        raise DataError(
            "integer y are classes, which need an output with at least 2 scores, got shape "
            f"{tuple(output.shape)}: give float y to a model with one output"
        )
    check_shape("y", y, *output.shape[:place], *output.shape[place + 1 :])
    known = y[y != -100]  # torch's own sign for a target to leave out
    if bool(((known < 0) | (known >= classes)).any()):
        raise DataError(
            f"y must be classes 0 .. {classes - 1}, got {int(known.min())} .. {int(known.max())}"
        )
