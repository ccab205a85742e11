"""A sparse matrix that is indexed as an array of dense rows."""

import numpy as np
import pytest
from scipy import sparse

from netwright.data import sparse_rows
from netwright.data.sparse_rows import SparseRows, rows_of

DENSE = np.array([[0, 2.0, 0], [1.0, 0, 0], [0, 0, 3.0], [0, 0, 0]])


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_rows_are_dense(make: type) -> None:
    rows = SparseRows(make(DENSE))
    assert (rows.shape, rows.ndim, len(rows)) == ((4, 3), 2, 4)
    assert rows.dtype == np.float64
    assert (rows[1:3] == DENSE[1:3]).all()
    assert (rows[np.array([3, 0, 0])] == DENSE[[3, 0, 0]]).all()


def test_what_is_small_is_made_dense_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = sparse.csr_array(DENSE)
    small = rows_of(matrix)
    assert isinstance(small, np.ndarray)
    monkeypatch.setattr(sparse_rows, "MOST_DENSE", 47)  # a byte less than twelve floats
    assert isinstance(rows_of(matrix), SparseRows)
    monkeypatch.setattr(sparse_rows, "MOST_DENSE", 48)
    assert isinstance(rows_of(matrix), np.ndarray)
    assert rows_of(DENSE) is DENSE
