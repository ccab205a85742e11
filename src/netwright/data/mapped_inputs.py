"""Inputs in a memory-mapped array: the file is the data, and a batch copies its rows out of it.

Shapes: N examples, B rows read together.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.raw_arrays import to_floats
from netwright.data.stored import StoredInputs, evenly_spaced

FINGERPRINT_ROWS = 4096


class MappedInputs(StoredInputs):
    """The rows of a mapped array, each encoded as it is read.

    Args:
        array: (N, ...), real numbers.
        encoder: how a row is scaled.
    """

    def __init__(self, array: NDArray[Any], encoder: ArrayEncoder) -> None:
        self.array, self.encoder = array, encoder

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `StoredInputs.shape`."""
        return self.encoder.input_shape

    def __repr__(self) -> str:
        return f"MappedInputs({self.array.shape} of {self.array.dtype})"

    def read(self, rows: Tensor) -> Tensor:
        """See `StoredInputs.read`."""
        return self.encoder.scaled(to_floats("inputs", self.array[rows.numpy()]))

    def fingerprint(self) -> str:
        """The sha256 of shape, dtype, size and up to 4,096 evenly spaced rows."""
        array = self.array
        digest = hashlib.sha256(f"{array.shape} {array.dtype.str} {array.nbytes}".encode())
        digest.update(array[evenly_spaced(len(array), FINGERPRINT_ROWS).numpy()].tobytes())
        return digest.hexdigest()


def is_mapped(source: Any) -> bool:
    """Whether this is an array that lies in a file, or a part of one."""
    return isinstance(source, np.memmap)
