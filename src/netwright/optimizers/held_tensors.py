"""Tensors that go back, by a number on the device, to what they held before."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class HeldTensors:
    """Keeps what tensors held after the last good batch, and puts it back after a bad one.

    Those of one dtype lie in one tensor, so that it takes three kernels, not three a tensor.

    Args:
        tensors: as they are now.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.parts: list[_Part] = []
        for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
            alike = [tensor for tensor in tensors if tensor.dtype == dtype]
            count = sum(tensor.numel() for tensor in alike)
            kept, now = (alike[0].new_empty(count) for _ in range(2))
            self.parts.append(_Part(alike, kept, _cut(kept, alike), now, _cut(now, alike)))
        self.take()

    @torch.no_grad()
    def take(self) -> None:
        """Take in what the tensors hold."""
        for part in self.parts:
            torch._foreach_copy_(part.kept_each, part.tensors)

    @torch.no_grad()
    def settle(self, bad: Tensor) -> None:
        """Take in what the tensors hold, or, where bad is 1, undo it."""
        for part in self.parts:
            torch._foreach_copy_(part.now_each, part.tensors)
            torch.where(bad > 0, part.kept, part.now, out=part.kept)
            torch._foreach_copy_(part.tensors, part.kept_each)

    @torch.no_grad()
    def put_back(self) -> None:
        """Undo what was done since."""
        for part in self.parts:
            torch._foreach_copy_(part.tensors, part.kept_each)


class _Part(NamedTuple):
    """Tensors of one dtype, two flat tensors for all of them, and these in their shapes."""

    tensors: list[Tensor]
    kept: Tensor
    kept_each: list[Tensor]
    now: Tensor
    now_each: list[Tensor]


def _cut(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of a flat tensor in the shapes of others, and in their order in memory.

    One kernel copies many tensors where both sides lie in the same order; kernels of convolutions
    may have their channels last. Those with gaps are copied one by one.
    """
    pieces = torch.split(flat, [part.numel() for part in like])
    return [
        piece.as_strided(part.shape, part.stride()) if _is_dense(part) else piece.view(part.shape)
        for piece, part in zip(pieces, like, strict=True)
    ]


def _is_dense(tensor: Tensor) -> bool:
    """Whether its numbers lie side by side, in any order."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.numel() == 1 + sum((size - 1) * stride for size, stride in steps)
