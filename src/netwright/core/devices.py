"""Where tensors live: choosing a device by name and saying what it is."""

import platform
from itertools import chain

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError


def pick_device(name: str = "auto") -> torch.device:
    """Turn "auto", "cpu", "cuda", "cuda:1" or "mps" into a device that is there."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"device must be auto, cpu, cuda, cuda:N or mps, got {name!r}") from None
    if device.type == "cuda" and (device.index or 0) >= (count := torch.cuda.device_count()):
        there = "1 CUDA device" if count == 1 else f"{count} CUDA devices"
        raise ConfigError(f"device {name!r} is not available: {there}")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ConfigError("device 'mps' is not available on this machine")
    if device.type not in {"cpu", "cuda", "mps"}:
        raise ConfigError(f"device must be auto, cpu, cuda, cuda:N or mps, got {name!r}")
    return device


def sent(values: Tensor, device: torch.device) -> Tensor:
    """A tensor of the CPU on a device that is not waited for."""
    if device.type != "cuda":
        return values.to(device)
    return values.pin_memory().to(device, non_blocking=True)


def device_of(module: nn.Module) -> torch.device:
    """Where a module's parameters or else its buffers are; the CPU for one that has neither."""
    parts = chain(module.parameters(), module.buffers())
    return next((part.device for part in parts), torch.device("cpu"))


def describe_device(device: torch.device) -> str:
    """The device in words, for the run's environment."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} ({platform.machine()})"
