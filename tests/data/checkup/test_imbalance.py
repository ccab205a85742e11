"""Rare classes, by hand."""

from dataclasses import replace

from netwright.data.checkup.imbalance import IMBALANCE, class_counts, find_imbalance, rare_classes
from netwright.data.checkup.origin import Origin
from tests.data.checkup.rows import data_of, numbered


def test_a_class_rarer_than_a_tenth_of_the_commonest_is_named_with_its_share() -> None:
    data = data_of((numbered(50), [0] * 44 + [1] * 4 + [2] * 2), num_classes=3)
    found = find_imbalance(data, Origin())
    assert found is not None
    assert found.sentence == (
        "2 of 3 classes stand in few training rows: 'c' 4.00%, 'b' 8.00%; always predicting 'a' "
        "is right in 88.0%"
    )
    assert (found.illness, found.see) == (IMBALANCE.illness, "balanced_accuracy")
    assert found.fix == (
        "Use balanced_accuracy, not accuracy; for a network, --set train.class_weight=balanced"
    )


def test_a_tenth_is_enough() -> None:
    assert find_imbalance(data_of((numbered(22), [0] * 20 + [1] * 2)), Origin()) is None


def test_a_class_of_one_row_is_told_of_by_itself() -> None:
    data = data_of((numbered(50), [0] * 49 + [1]), num_classes=3)
    assert class_counts(data) == [49, 1, 0]
    assert rare_classes(data, class_counts(data)) == []
    assert find_imbalance(data, Origin()) is None


def test_of_masks_a_class_without_pixels_is_the_rarest() -> None:
    data = data_of((numbered(6), [0, 1] * 3), num_classes=3)
    masks = replace(data, spec=replace(data.spec, target="mask"))
    found = find_imbalance(masks, Origin())
    assert found is not None
    assert found.sentence.startswith("1 of 3 classes stands in few pixels: 'c' 0.00%")
