"""Learning rates as numbers on the device, so that a recorded update takes those of today.

torch's fused kernels and our own optimizers read a rate from the device in float32. Every update of
a run reads it there, recorded or not: the bits are the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from netwright.optimizers.foreach_optimizer import ForeachOptimizer
from netwright.train.state import TrainState
from netwright.train.updates.finite_check import is_fused

KINDS = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD)  # whose kernels read a rate there


class DeviceRates:
    """The rates of an optimizer's groups on its device.

    Args:
        optimizer: whose settings stay plain numbers.
        device: of its weights.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, device: torch.device) -> None:
        self.optimizer = optimizer
        self.tensors = [torch.zeros((), device=device) for _ in optimizer.param_groups]
        self.told: list[float] = [0.0] * len(self.tensors)

    def tell(self) -> None:
        """Bring the rates to the device that have changed; nothing waits for it."""
        for index, group in enumerate(self.optimizer.param_groups):
            if group["lr"] != self.told[index]:
                self.told[index] = group["lr"]
                self.tensors[index].fill_(group["lr"])

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """For a block, the optimizer reads its rates on the device."""
        self.tell()
        groups = self.optimizer.param_groups
        plain = [group["lr"] for group in groups]
        for group, rate in zip(groups, self.tensors, strict=True):
            group["lr"] = rate
        try:
            yield
        finally:
            for group, rate in zip(groups, plain, strict=True):
                group["lr"] = rate


def build_rates(state: TrainState) -> DeviceRates | None:
    """The rates of a run on CUDA whose optimizer can read them there; else None."""
    optimizer = state.optimizer
    is_ours = isinstance(optimizer, ForeachOptimizer) and optimizer.steps_on_device
    if state.device.type != "cuda" or state.scaler or not (is_ours or is_fused(optimizer, KINDS)):
        return None
    if state.engine.shards:
        return None  # updates of parts of weights are not recorded
    if any(isinstance(group["lr"], Tensor) for group in optimizer.param_groups):
        return None  # a caller's own, which schedules change in place
    return DeviceRates(optimizer, state.device)


def reason_without(state: TrainState) -> str:
    """Why a run has no rates on the device, in a few words."""
    if state.engine.shards:
        return "the weights are sharded"
    return f"{type(state.optimizer).__name__} does not read its rate on the device"
