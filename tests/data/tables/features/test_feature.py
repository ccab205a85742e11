"""What all features share."""

import numpy as np

from netwright.data.tables.features.feature import side_by_side


def test_columns_stand_side_by_side() -> None:
    columns = [np.array([1, 2], np.float32), np.array([3, 4], np.float32)]
    np.testing.assert_array_equal(side_by_side(columns, 2), [[1, 3], [2, 4]])


def test_no_column_is_an_empty_array_with_its_rows() -> None:
    assert side_by_side([], 3).shape == (3, 0)
