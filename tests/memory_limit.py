"""How much memory a process may take from now on."""

import resource
from pathlib import Path

import torch


def limit_memory(more: int) -> None:
    """Let this process have so many bytes more than it has now.

    What it can write to is counted, not its addresses: the driver of a GPU reserves far more
    addresses than that, also where no GPU is visible.
    """
    torch.empty(1)  # for its first tensor torch may reserve a gibibyte, which is no parser's doing
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
