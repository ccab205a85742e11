"""What a host has for each of its GPUs: memory, copies to the GPU, and steps of an optimizer.

    copies     b / t        of b bytes of pinned memory, brought to the GPU
    stepping   28 P / t     of a step of Adam on P weights: weight, gradient and both moments are
                            read, 16 bytes, and all but the gradient written, 12

Of several times the quickest counts. Several processes share memory and cores: what one alone
steps by is divided by the number of GPUs.
"""

import os
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from netwright.optimizers.eager import AdamW

TIMES = 3
COPIED = 2**28  # bytes of a copy
STEPPED = 2**25  # weights of a step: with gradients and moments far more than caches hold
OF_WEIGHT = 28  # bytes that a step reads and writes


class HostRates(NamedTuple):
    """What there is for each GPU.

    Args:
        memory: bytes.
        copies: bytes a second.
        stepping: bytes a second.
    """

    memory: float
    copies: float
    stepping: float


def measure_host(device: torch.device) -> HostRates:
    """Measure the host of a GPU.

    Args:
        device: the GPU.
    """
    gpus = max(1, torch.cuda.device_count())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return HostRates(memory / gpus, copied(device), stepped(STEPPED) / gpus)


def copied(device: torch.device, size: int = COPIED) -> float:
    """Bytes a second from the host's memory to a device."""
    on_cuda = device.type == "cuda"
    numbers = torch.ones(size, dtype=torch.uint8, pin_memory=on_cuda)
    there = torch.empty_like(numbers, device=device)

    def copy() -> None:
        there.copy_(numbers)
        if on_cuda:
            torch.cuda.synchronize(device)

    return size / quickest(copy)


def stepped(weights: int) -> float:
    """Bytes a second that a step of Adam reads and writes on the host, by torch's fused kernel."""
    weight = torch.nn.Parameter(torch.zeros(weights))
    weight.grad = torch.ones(weights)
    optimizer = AdamW([weight], fused=True)
    optimizer.step()  # begins the moments
    return OF_WEIGHT * weights / quickest(optimizer.step)


def quickest(work: Callable[[], object]) -> float:
    """Seconds that it takes, the least of several times."""
    seconds = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
