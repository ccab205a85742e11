"""Inputs in a memory-mapped array or a sparse matrix: a batch copies its rows out of it.

Shapes: N examples, B rows read together.
"""

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.loading.stored import StoredInputs
from netwright.data.raw_arrays import to_floats
from netwright.data.sparse_rows import SparseRows


class MappedInputs(StoredInputs):
    """The rows of a mapped array or of a sparse matrix, each encoded as it is read.

    Args:
        array: (N, ...), real numbers.
        encoder: how a row is scaled.
        content: a digest of all bytes of the array, taken when its rows were looked through.
    """

    def __init__(
        self, array: NDArray[Any] | SparseRows, encoder: ArrayEncoder, content: str
    ) -> None:
        self.array, self.encoder, self.content = array, encoder, content

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
        """The sha256 of shape, dtype, content and scaling; nothing is read for it."""
        array, encoder = self.array, self.encoder
        # To six digits: the number of threads may change the last ones, and the sign of a zero (z).
        units = [
            f"{mean / scale:z.6f} {scale:.6g}"
            for mean, scale in zip(encoder.mean, encoder.scale, strict=True)
        ]
        parts = [array.shape, array.dtype.str, self.content, encoder.factor, units]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def is_stored(source: Any) -> bool:
    """Whether rows of this are read when they are needed: an array in a file, a sparse matrix."""
    return isinstance(source, np.memmap | SparseRows)
