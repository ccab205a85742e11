"""The most memory that was held at a time."""

import sys
from pathlib import Path

import torch

MEBIBYTE = 2**20


def peak_memory(device: torch.device) -> float:
    """In MiB: of tensors on a CUDA device, elsewhere of the whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / MEBIBYTE
    if sys.platform == "win32":
        return 0.0
    if sys.platform == "linux":  # whose `getrusage` also counts what the parent had at the start
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:")[1].split(maxsplit=1)[0]) / 1024
    import resource  # noqa: PLC0415 - Windows has none

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEBIBYTE
