"""The numbers that tensors hold, kept aside and put back."""

from collections.abc import Sequence

import torch
from torch import Tensor


def copies_of(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The numbers that they hold now."""
    return [tensor.detach().clone() for tensor in tensors]


@torch.no_grad()
def put_back(tensors: Sequence[Tensor], numbers: Sequence[Tensor]) -> None:
    """Let them hold again what `copies_of` gave."""
    for tensor, values in zip(tensors, numbers, strict=True):
        tensor.copy_(values)
