"""Triton kernels, started with little work of the host.

Triton looks at each argument at each start, which takes as long as a small kernel runs. Here a
kernel is made once for arguments of one kind, and started as it is for the next ones of that kind.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import triton
from torch import Tensor

ALIGNED = 16  # bytes; kernels are made for tensors that begin at a multiple of it


class Kernel:
    """A function in Triton's language.

    Args:
        function: of pointers, then numbers, then constants.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.source: Any = triton.jit(function)
        self.made: dict[Hashable, Any] = {}

    def start(
        self,
        kind: Hashable,
        grid: tuple[int, int],
        tensors: Sequence[Tensor],
        numbers: Sequence[float],
        constants: Mapping[str, Any],
        *,
        warps: int = 4,
    ) -> None:
        """Put the kernel into the current stream of the current device.

        Args:
            kind: what constants, numbers and the formats of tensors follow from, and the device.
            grid: how many programs run, along both axes; the second has room for 65,535.
            tensors: the pointers.
            numbers: plain ones.
            constants: by name, in the order of the function; code is made for each.
            warps: of a program.
        """
        made = self.made.get(kind)
        is_aligned = not any(tensor.data_ptr() % ALIGNED for tensor in tensors)
        if made is None or not is_aligned:
            made = self.source[grid](*tensors, *numbers, **constants, num_warps=warps)
            if is_aligned:
                self.made[kind] = made
        else:
            made[*grid, 1](*tensors, *numbers, *constants.values())


def tiles(count: int, size: int) -> int:
    """How many tiles of a size cover so many places."""
    return -(-count // size)


def width(channels: int, most: int) -> int:
    """The power of 2 that covers the channels, or the most that a tile has."""
    return min(most, 1 << (channels - 1).bit_length())
