r"""Few dimensions for many: the truncated singular value decomposition, and latent semantics by it.

    M ~ U_k S_k V_k^T,    |M - U_k S_k V_k^T|_F^2 = sum_{i > k} s_i^2,    W = U_k S_k

Of all matrices of rank k it is the nearest. Of a matrix of texts and words, U_k S_k are vectors of
the texts and V_k S_k of the words (latent semantic analysis); of words and their contexts, U_k S_k
are vectors of words.

Shapes: N rows, V columns, K dimensions.
Source: Eckart and Young (1936); Deerwester et al., "Indexing by Latent Semantic Analysis" (1990).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError, DataError

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class LatentSpace:
    """The largest singular values of a matrix, with their directions.

    Args:
        rows: U_k (N, K), with orthonormal columns.
        strengths: the singular values (K,), the largest first.
        columns: V_k (V, K), with orthonormal columns.
    """

    rows: Floats
    strengths: Floats
    columns: Floats

    @property
    def row_vectors(self) -> Floats:
        """Vectors of the rows (N, K), U_k S_k: their dot products are those of the rows."""
        return self.rows * self.strengths

    @property
    def column_vectors(self) -> Floats:
        """Vectors of the columns (V, K), V_k S_k."""
        return self.columns * self.strengths


def factor_matrix(matrix: csr_array, dimensions: int, *, seed: int = 0) -> LatentSpace:
    """The truncated singular value decomposition of a sparse matrix (N, V).

    Each direction points where its largest entry in V_k is positive: the sign of a singular vector
    is otherwise a matter of chance.

    Args:
        matrix: what is to be brought to few dimensions.
        dimensions: K, fewer than rows and columns have.
        seed: of the vector that the iteration starts from.
    """
    check_positive("dimensions", dimensions)
    most = min(matrix.shape) - 1
    if dimensions > most:
        raise ConfigError(
            f"dimensions must be at most {most} for a matrix of {matrix.shape[0]} rows and "
            f"{matrix.shape[1]} columns, got {dimensions}"
        )
    if not np.isfinite(matrix.data).all():
        raise DataError("matrix must hold finite numbers, got NaN or infinity")
    if not matrix.count_nonzero():
        raise DataError("matrix must have an entry that is not 0: it has no directions")
    from scipy.sparse.linalg import svds  # noqa: PLC0415 - it costs a quarter of a second

    start = np.random.default_rng(seed).standard_normal(min(matrix.shape))
    left, strengths, right = svds(matrix.astype(np.float64), k=dimensions, v0=start)
    order = np.argsort(-strengths)
    rows, columns = left[:, order], right[order].T
    largest = np.abs(columns).argmax(axis=0)
    signs = np.where(columns[largest, np.arange(dimensions)] < 0, -1.0, 1.0)
    return LatentSpace(rows=rows * signs, strengths=strengths[order], columns=columns * signs)
