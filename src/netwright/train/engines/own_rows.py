"""A step of an optimizer on the rows that a rank holds, as plain tensors.

torch takes lists of DTensors apart in Python at each call: for hundreds of weights that takes
longer than the kernels of a step, and a device that was just read from waits for it. A step of each
number by itself needs no other rank; what it does to a rank's rows is the same either way.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

Kept = dict[str, Any]  # what an optimizer remembers of a weight


@contextmanager
def on_own_rows(optimizer: Optimizer) -> Iterator[None]:
    """For a block, an optimizer's weights, gradients and memory are those of this rank alone."""
    groups, memory = optimizer.param_groups, optimizer.state
    whole = [group["params"] for group in groups]
    with torch.no_grad():
        rows = {weight: _with_gradient(weight) for params in whole for weight in params}
        before = {
            own: {name: own_rows(value) for name, value in memory[weight].items()}
            for weight, own in rows.items()
            if weight in memory
        }
    for group, params in zip(groups, whole, strict=True):
        group["params"] = [rows[weight] for weight in params]
    stepped = defaultdict[Any, Kept](dict, {own: dict(kept) for own, kept in before.items()})
    optimizer.state = stepped
    try:
        yield
    finally:
        optimizer.state = memory
        for group, params in zip(groups, whole, strict=True):
            group["params"] = params
        for weight, own in rows.items():
            known, made = before.get(own, {}), stepped.pop(own, {})
            for name in list(made):
                # Let go of one after the other: for a moment there are two of each new tensor.
                if (value := made.pop(name)) is not known.get(name):  # else changed in place
                    memory[weight][name] = _divided_as(weight, own, value)


def own_rows(value: Any) -> Any:
    """What a rank holds of a tensor, in its place; all else as it is. Without gradients."""
    return value.to_local() if isinstance(value, DTensor) else value


def _with_gradient(weight: Tensor) -> Tensor:
    own: Tensor = own_rows(weight).detach()
    own.grad = own_rows(weight.grad)
    return own


@torch.no_grad()
def _divided_as(weight: Tensor, own: Tensor, value: Any) -> Any:
    """A value with numbers for the rows of a weight, as a tensor that ranks hold parts of."""
    if not isinstance(weight, DTensor) or not isinstance(value, Tensor) or value.shape != own.shape:
        return value
    whole = torch.empty_like(weight, dtype=value.dtype, device=value.device)
    own_rows(whole).copy_(value)
    return whole
