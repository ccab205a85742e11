"""Classes of one row, by hand."""

from netwright.data.checkup.origin import Origin
from netwright.data.checkup.single_rows import find_single_rows
from tests.data.checkup.rows import data_of, numbered


def test_classes_of_one_row_or_none_are_named() -> None:
    data = data_of((numbered(6), [0, 0, 0, 1, 1, 2]), num_classes=4)
    found = find_single_rows(data, Origin())
    assert found is not None
    assert found.illness == "single-row-class"
    assert found.sentence == (
        "2 of 4 classes have at most one training row ('c' one, 'd' none): they can be memorised, "
        "but not learned from"
    )


def test_two_rows_are_enough() -> None:
    assert find_single_rows(data_of((numbered(22), [0] * 20 + [1] * 2)), Origin()) is None


def test_rows_of_the_test_are_not_learned_from() -> None:
    data = data_of((numbered(4), [0, 0, 0, 1]), (numbered(4, 9), [1] * 4))
    found = find_single_rows(data, Origin())
    assert found is not None
    assert found.sentence.startswith("1 of 2 classes has at most one training row ('b' one)")
