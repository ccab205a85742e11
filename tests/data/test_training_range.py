"""Numbers far outside the training range, and what is said of them."""

import numpy as np
import pytest

from netwright.data.training_range import far_columns, is_far


def test_far_is_half_a_range_away() -> None:
    values = [-1.0, -0.9, 3.0, 3.1, np.nan, np.inf]
    assert is_far(values, 0.0, 2.0).tolist() == [False, False, False, True, False, True]
    assert is_far([-1.1], 0.0, 2.0).tolist() == [True]


def test_a_constant_is_itself_in_each_precision() -> None:
    assert is_far([0.1, float(np.float32(0.1)), 0.1001], 0.1, 0.1).tolist() == [False, False, True]
    assert is_far([0.0, 1e-9], 0.0, 0.0).tolist() == [False, True]


def test_each_column_in_a_sentence() -> None:
    values = np.array([[0.0, 5, 7], [9, 5, 8], [-8, 5, 7]])
    assert far_columns(values, (0, 4, 7), (1, 6, 7), ("a", "b", "c")) == (
        "a: 2 rows lie far outside the training range 0 to 1, up to 9",
        "c: 1 row differs from 7, the only value in training",
    )
    assert far_columns(values[:0], (0, 4, 7), (1, 6, 7), "abc") == ()


def test_a_row_of_a_series_counts_once() -> None:
    values = np.array([[[0.0], [9]], [[9], [9]], [[0], [1]]])
    (said,) = far_columns(values, (0.0,), (1.0,), ("x0",))
    assert said.startswith("x0: 2 rows lie far outside")


@pytest.mark.parametrize(
    ("count", "more"),
    [(6, "1 more column has values far outside"), (9, "4 more columns have values far outside")],
)
def test_of_many_columns_those_of_most_rows_are_named(count: int, more: str) -> None:
    values = np.tril(np.full((count, count), 9.0))  # the first column has it in all rows
    said = far_columns(values, [0] * count, [1] * count, [f"x{n}" for n in range(count)])
    assert [one[:3] for one in said[:-1]] == ["x0:", "x1:", "x2:", "x3:", "x4:"]
    assert said[-1] == f"{more} the training range"
