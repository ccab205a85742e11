"""Triton kernels, started with little work of the host.

Triton looks at each argument at each start, which takes as long as a small kernel runs. Here a
kernel is made once for arguments of one kind, and started as it is for the next ones of that kind.
"""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from threading import Thread
from typing import Any

import torch
from torch import Tensor

from netwright.core.terminal.console import print_warning

OLDEST = (8, 0)  # the first processors that compute in bfloat16
WAKING = "wake-kernels"  # the name of a thread
ALIGNED = 16  # bytes; kernels are made for tensors that begin at a multiple of it


class Kernel:
    """A function in Triton's language.

    Args:
        function: of pointers, then numbers, then constants.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        import triton  # noqa: PLC0415 - it is there only where torch has CUDA

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


def can_run(trial: Callable[[], object], device: torch.device) -> bool:
    """Whether kernels can be made and started for a device; where it should but fails, it is told.

    Args:
        trial: starts one.
        device: where.
    """
    is_known = device.type == "cuda" and torch.cuda.get_device_capability(device) >= OLDEST
    if not is_known or find_spec("triton") is None:
        return False
    try:
        trial()
    except Exception as error:  # whatever it is, torch's operations do the same
        reason = (str(error) or type(error).__name__).splitlines()[0]
        print_warning(f"no kernels can be made, torch's operations run instead: {reason}")
        return False
    return True


@cache
def wake_kernels(device: torch.device, *, convolves: bool) -> Thread:
    """Let libraries of kernels be loaded while this thread goes on; gives the thread that does it.

    Before its first kernel Triton sums its own library up, to know what it has compiled before;
    cuDNN and cuBLAS are loaded by the first convolution and the first product. Each takes a few
    tenths of a second, which the reading of data can hide.

    Args:
        device: of CUDA; other threads have a current device of their own.
        convolves: cuDNN will be wanted, which takes memory of the device.
    """
    thread = Thread(target=_use_kernels, args=(device, convolves), name=WAKING, daemon=True)
    thread.start()
    return thread


def wait_for_kernels() -> None:
    """Until the libraries are loaded that `wake_kernels` asked for: before processes are forked."""
    for thread in threading.enumerate():
        if thread.name == WAKING:
            thread.join()


def _use_kernels(device: torch.device, convolves: bool) -> None:
    # Whatever fails here fails again where a kernel is wanted, and is told there.
    with suppress(Exception), torch.cuda.device(device):
        vectors = torch.ones(8, 8, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        torch.autograd.backward((vectors @ vectors).sum())
        if convolves:
            images = vectors.detach().view(1, 1, 8, 8).repeat(8, 8, 1, 1)
            images = images.contiguous(memory_format=torch.channels_last).requires_grad_()
            out = torch.nn.functional.conv2d(images, images[..., :3, :3], padding=1)
            torch.autograd.backward(out.sum())
    with suppress(Exception), torch.cuda.device(device):
        import triton  # noqa: PLC0415 - it is there only where torch has CUDA

        @triton.jit
        def nothing(x):  # type: ignore[no-untyped-def]
            pass

        nothing.warmup(torch.float32, grid=(1,))


def tiles(count: int, size: int) -> int:
    """How many tiles of a size cover so many places."""
    return -(-count // size)


def width(channels: int, most: int) -> int:
    """The power of 2 that covers the channels, or the most that a tile has."""
    return min(most, 1 << (channels - 1).bit_length())
