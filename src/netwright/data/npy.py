"""A folder of NumPy files as data: `inputs.npy` stays on disk, `targets.npy` is read.

Files are mapped, so inputs may be larger than memory. Nothing pickled is ever read.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.config import Doc
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.regular_file import check_regular
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.data.source import Source

INPUTS, TARGETS = "inputs.npy", "targets.npy"


@dataclass(frozen=True, kw_only=True)
class NpyConfig(ArraysConfig):
    """Arrays of your own, of any size."""

    path: Annotated[str, Doc("the folder that holds inputs.npy and targets.npy")] = ""


def is_npy_folder(path: str | Path) -> bool:
    """Whether this is a folder with inputs in it."""
    return (Path(path) / INPUTS).is_file()


def load_npy(config: NpyConfig) -> Data:
    """The arrays of a folder; the inputs are not read into memory."""
    if not config.path:
        raise ConfigError(f"path is empty, wanted the folder of {INPUTS} and {TARGETS}")
    folder = Path(config.path)
    targets = np.array(map_npy(folder / TARGETS))
    return from_arrays(map_npy(folder / INPUTS), targets, config=config, name=folder.resolve().name)


def map_npy(path: Path) -> NDArray[Any]:
    """The array of a file, mapped; objects, which only pickle can read, are refused."""
    try:
        check_regular(path)
        array: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except DataError:
        raise
    except Exception as error:  # a header is a literal of Python, and what reads it raises any kind
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DataError(f"{path} cannot be read as an array of numbers or text: {reason}") from None
    return array


SOURCE = Source(
    config=NpyConfig,
    load=load_npy,
    sentence="your own arrays, of any size: a folder with inputs.npy and targets.npy",
    origin="your files",
    licence="yours",
)
