"""Inputs in a sparse matrix: only the rows that are read together are ever made dense.

Shapes: N examples, F features, B rows read together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netwright.data.raw_arrays import is_sparse

MOST_DENSE = 2**28  # bytes of float32 up to which a sparse matrix is made dense at once


class SparseRows:
    """A scipy matrix that is indexed like an array, and gives dense rows.

    Args:
        matrix: (N, F), of any of scipy's formats.
    """

    ndim = 2

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr()
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype[Any] = matrix.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """The rows (B, F), dense."""
        dense: NDArray[Any] = self.matrix[rows].toarray()
        return dense


def rows_of(source: Any) -> Any:
    """A sparse matrix that is large when dense, as rows; a small one dense; anything else as is."""
    if not is_sparse(source) or source.ndim != 2:
        return source
    size = source.shape[0] * source.shape[1] * np.dtype(np.float32).itemsize
    return source.toarray() if size <= MOST_DENSE else SparseRows(source)
