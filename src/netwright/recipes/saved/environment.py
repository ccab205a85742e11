"""Where a run was made: versions and device. No user, host or environment variable goes in."""

import importlib.metadata
import platform
from functools import cache
from typing import Any

import torch

from netwright.core.devices import describe_device
from netwright.core.version import VERSION

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pydantic",
    "safetensors",
    "pandas",
    "pyarrow",
)


def describe_environment(device: torch.device) -> dict[str, Any]:
    """What may change the last bit of a result."""
    return {
        "format": 1,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "device": describe_device(device),
        "threads": torch.get_num_threads(),
        "packages": {
            "netwright": VERSION,
            "torch": torch.__version__,  # with its build, which the package's own version lacks
            **{name: version for name in PACKAGES if (version := _version(name))},
        },
    }


@cache
def _version(package: str) -> str | None:
    """The installed version, read once: it takes longer than the rest of a small run's start."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
