"""The most memory that was held at a time."""

import sys

import torch

MEBIBYTE = 2**20


def peak_memory(device: torch.device) -> float:
    """In MiB: of tensors on a CUDA device, elsewhere of the whole process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / MEBIBYTE
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415 - Windows has none

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MEBIBYTE if sys.platform == "darwin" else most / 1024  # Linux counts KiB
