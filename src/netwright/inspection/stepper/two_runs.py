"""One computation run twice: on the tape, and as torch does it, to hold the gradients together.

Both runs take copies in float64 and draw the same random numbers.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.outputs import logits_of
from netwright.data.loading.loader import Batch
from netwright.inspection.stepper.double_precision import Widening, double_copy
from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.refusals import check_output, check_targets
from netwright.inspection.stepper.reverse_sweep import Sweep
from netwright.inspection.stepper.tape import record
from netwright.inspection.stepper.unrolled_modules import unroll_in_time

Loss = Callable[..., Tensor] | None


def twins(model: nn.Module, loss: Loss) -> tuple[nn.Module, Loss]:
    """Copies in float64 of a model and of its loss, which may be a module as well."""
    if not isinstance(loss, nn.Module):
        return double_copy((model,))[0], loss
    twin, twin_loss = double_copy((model, loss))
    return twin, twin_loss


def _parameters(model: nn.Module, loss: Loss) -> Iterator[tuple[str, nn.Parameter]]:
    """All that learns, by name; what is shared once."""
    own = {id(parameter) for parameter in model.parameters()}
    yield from model.named_parameters()
    if isinstance(loss, nn.Module):
        yield from (
            (f"loss.{name}", one) for name, one in loss.named_parameters() if id(one) not in own
        )


def recorded(model: nn.Module, loss: Loss, x: Tensor, y: Any) -> tuple[Node, ...]:
    """The tape of a model that may be changed."""
    names = {id(parameter): name for name, parameter in _parameters(model, loss)}
    names |= {id(buffer): name for name, buffer in model.named_buffers()}
    names[id(y.targets if isinstance(y, Batch) else y)] = "target"
    return record(model, names, x, _bound(loss, y), unroll_in_time(model))


def _bound(loss: Loss, y: Any) -> Callable[[Any], Tensor]:
    """The loss as a function of the output alone."""
    if loss is not None:
        return loss if y is None else lambda output: loss(output, y)
    if y is None:
        return logits_of
    if not isinstance(y, Tensor):
        raise ConfigError(f"y must be a tensor where no loss is given, got {type(y).__name__}")
    error = functional.mse_loss if y.is_floating_point() else functional.cross_entropy

    def bound(output: Any) -> Tensor:
        found = check_output(output)
        check_targets(y, found)
        return error(found, y)

    return bound


def by_autograd(model: nn.Module, loss: Loss, x: Tensor, y: Any) -> dict[tuple[str, str], Tensor]:
    """The gradients as torch has them, by kind and name; zero where the loss asks not."""
    leaves: dict[tuple[str, str], Tensor] = {
        ("parameter", name): parameter
        for name, parameter in _parameters(model, loss)
        if parameter.requires_grad
    }
    if x.is_floating_point():
        leaves["input", "x"] = x = x.clone().requires_grad_()
    with torch.enable_grad(), Widening():
        grads = torch.autograd.grad(
            _bound(loss, y)(model(x.clone())),
            list(leaves.values()),
            allow_unused=True,
            materialize_grads=True,
        )
    return dict(zip(leaves, grads, strict=True))


def disagreement(
    nodes: tuple[Node, ...], sweep: Sweep, expected: dict[tuple[str, str], Tensor]
) -> float:
    """The largest difference of the gradients of what was given, beside their size."""
    found: dict[tuple[str, str], Tensor] = {
        (node.kind, node.name): gradient
        for node, gradient in zip(nodes, sweep.gradients, strict=True)
    }
    largest = 0.0
    for key, gradient in expected.items():
        other = found.get(key, torch.zeros_like(gradient))
        differs = (other != gradient) & ~(other.isnan() & gradient.isnan())
        apart = float((other - gradient)[differs].norm())
        if apart:
            beside = apart / max(float(gradient.norm()), apart)
            largest = max(largest, beside if math.isfinite(beside) else math.inf)
    return largest
