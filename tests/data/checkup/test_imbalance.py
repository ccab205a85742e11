"""Rare classes, by hand."""

from netwright.data.checkup.imbalance import find_imbalance
from netwright.data.checkup.origin import Origin
from tests.data.checkup.rows import data_of, numbered


def test_a_class_rarer_than_a_tenth_of_the_commonest_is_named_with_its_share() -> None:
    data = data_of((numbered(50), [0] * 45 + [1] * 4 + [2]), num_classes=3)
    found = find_imbalance(data, Origin())
    assert found is not None
    assert found.sentence == (
        "2 of 3 classes stand in few training rows: 'c' 2.00%, 'b' 8.00%; "
        "who always says 'a' is right in 90.0%"
    )


def test_a_tenth_is_enough() -> None:
    assert find_imbalance(data_of((numbered(22), [0] * 20 + [1] * 2)), Origin()) is None


def test_a_class_without_rows_is_the_rarest() -> None:
    found = find_imbalance(data_of((numbered(6), [0, 1] * 3), num_classes=3), Origin())
    assert found is not None
    assert found.sentence.startswith("1 of 3 classes stands in few")
    assert "'c' 0.00%" in found.sentence
