"""The path of an optimizer: the places that it visits on a function of one tensor.

Shapes: T steps.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer


def optimizer_path(
    name: str,
    gradient: Callable[[Tensor], Tensor],
    start: Tensor,
    *,
    lr: float,
    steps: int,
    **options: Any,
) -> Tensor:
    """The places of a named optimizer, the first included, (T + 1, ...)."""
    place = nn.Parameter(start.clone())
    optimizer = build_optimizer(
        OPTIMIZERS.load(name), nn.ParameterList([place]), lr=lr, options=options
    )
    path = [start]
    for _ in range(steps):
        place.grad = gradient(place.detach())
        optimizer.step()
        path.append(place.detach().clone())
    return torch.stack(path)
