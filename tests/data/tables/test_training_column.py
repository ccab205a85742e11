"""A column seen from its training rows: other rows change nothing of what it tells."""

import numpy as np

from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.training_column import TrainingColumn


def column(cells: list[str], rows: list[int]) -> TrainingColumn:
    table = RawTable(name="t", columns={"a": cells}, positions=range(len(cells)))
    return TrainingColumn(table, "a", rows)


def test_only_training_rows_are_seen() -> None:
    seen = column(["x", "", "x", "z", ""], [0, 1, 2])
    assert seen.cells == ["x", "", "x"]
    assert (seen.counts, seen.missing, seen.distinct) == ({"x": 2}, 1, 1)
    assert seen.numbers is None


def test_training_rows_are_numbers_even_where_another_row_is_text() -> None:
    seen = column(["2", "1", "abc", ""], [1, 0, 3])
    assert seen.numbers is not None
    np.testing.assert_array_equal(seen.numbers, [1, 2, np.nan])


def test_equal_numbers_are_one_value() -> None:
    assert column(["1", "1.0", "2", ""], [0, 1, 2, 3]).distinct == 2
    assert column(["", ""], [0, 1]).distinct == 0


def test_weights_enter_what_texts_amount_to() -> None:
    table = RawTable(name="t", columns={"a": ["x", "y", "", "x"]}, positions=range(4))
    seen = TrainingColumn(table, "a", [0, 1, 2, 3], np.array([0.5, 2.0, 9.0, 1.0]))
    assert seen.amounts == {"x": 1.5, "y": 2.0}
    assert seen.counts == {"x": 2, "y": 1}
    assert TrainingColumn(table, "a", [0, 1, 3]).amounts == {"x": 2, "y": 1}
