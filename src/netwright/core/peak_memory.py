"""The most memory that was held at a time."""

import re
import sys
from pathlib import Path

import torch

MEBIBYTE = 2**20
STATUS = Path("/proc/self/status")  # of Linux


def peak_memory(device: torch.device) -> float:
    """In MiB: of tensors on a CUDA device, elsewhere of the whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / MEBIBYTE
    if sys.platform == "win32":
        return 0.0
    # On Linux `getrusage` also counts what the parent held when it started this process.
    own = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text()) if STATUS.exists() else None
    if own:  # which sandboxes may leave out
        return int(own[1]) / 1024
    import resource  # noqa: PLC0415 - Windows has none

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MEBIBYTE if sys.platform == "darwin" else most / 1024  # Linux counts KiB
