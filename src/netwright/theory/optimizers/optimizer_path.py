"""The path of an optimizer: the places that it visits on a function of one tensor.

Shapes: T steps.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer


def optimizer_path(
    name: str,
    gradient: Callable[[Tensor], Tensor],
    start: Tensor,
    *,
    lr: float | None = None,
    steps: int,
    value: Callable[[Tensor], Tensor] | None = None,
    only_last: bool = False,
    **options: Any,
) -> Tensor:
    """The places of a named optimizer, the first included, (T + 1, ...).

    Args:
        name: in the catalog of optimizers.
        gradient: of the function, at a place.
        start: the first place.
        lr: the learning rate; None takes the optimizer's own.
        steps: T.
        value: of the function, at a place; for optimizers that ask for it within a step.
        only_last: whether to keep the last place alone, (1, ...), where a path is large.
        **options: further settings of the optimizer.
    """
    place, entry = nn.Parameter(start.clone()), OPTIMIZERS.load(name)
    optimizer = build_optimizer(entry, nn.ParameterList([place]), lr=lr, options=options)
    closure: Callable[[], Any] | None = None
    if entry.closure:
        if value is None:
            raise ConfigError(f"{name} needs the value of the function, got only its gradient")
        closure = _with_graph(place, value) if entry.graph else _closure(place, gradient, value)
    path = [start]
    for _ in range(steps):
        place.grad = gradient(place.detach())
        optimizer.step(closure)
        path = [] if only_last else path
        path.append(place.detach().clone())
    return torch.stack(path)


def _closure(
    place: nn.Parameter,
    gradient: Callable[[Tensor], Tensor],
    value: Callable[[Tensor], Tensor],
) -> Callable[[], Tensor]:
    """Sets the gradient and gives the value, as L-BFGS wants it."""

    def evaluate() -> Tensor:
        place.grad = gradient(place.detach())
        return value(place.detach())

    return evaluate


def _with_graph(
    place: nn.Parameter, value: Callable[[Tensor], Tensor]
) -> Callable[[], tuple[Tensor, Tensor]]:
    """Gives the value with its graph, as Newton's method wants it."""
    return lambda: (value(place), place)
