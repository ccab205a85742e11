"""Tensors of a safetensors file that is open already: the very file that was checked.

Safetensors opens files by their names; `/dev/fd/N` is the name of one that this process has open.
The file is mapped, not read: memory is taken where a tensor is used.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from netwright.core.errors import DataError


def read_tensors(file: BufferedReader, path: Path) -> dict[str, Tensor]:
    """All tensors by name.

    Args:
        file: open.
        path: its name, for refusals, and for systems that have no names for open files.
    """
    with open_tensors(file, path) as tensors:
        return {name: tensors.get_tensor(name) for name in tensors.keys()}


@contextmanager
def open_tensors(file: BufferedReader, path: Path) -> Iterator[Any]:
    """The tensors and the metadata of a file, as `safe_open` gives them; see `read_tensors`."""
    opened = f"/dev/fd/{file.fileno()}"
    try:
        with safe_open(opened if os.path.exists(opened) else path, "pt") as tensors:
            yield tensors
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} is damaged: {error}") from None
