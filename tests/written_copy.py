"""A function whose second derivatives are computed one direction at a time."""

from typing import Any

import torch
from torch import Tensor


class WrittenCopy(torch.autograd.Function):
    """x, written into a given tensor, which torch's batched gradients cannot do."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        copy = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        return torch.add(x, 0, out=copy)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return written_copy(gradient)


def written_copy(x: Tensor) -> Tensor:
    """The same numbers, with such a derivative."""
    copy: Tensor = WrittenCopy.apply(x)  # type: ignore[no-untyped-call]
    return copy
