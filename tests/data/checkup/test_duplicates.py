"""Copies among the training rows, and equal rows that are said to be of different classes."""

import numpy as np
import torch

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.checkup.duplicates import DUPLICATES, find_duplicates
from netwright.data.checkup.origin import Origin
from tests.data.checkup.rows import data_of, numbered


def test_copies_are_counted_beyond_the_first_of_their_kind() -> None:
    inputs = torch.cat([numbered(17), numbered(1), numbered(1), numbered(1, start=1)])
    found = find_duplicates(data_of((inputs, [0] * 17 + [0, 0, 0])), Origin())
    assert found is not None
    assert found.sentence == "3 of 20 (15.0%) training rows are duplicates"
    assert found.see == "minibatch-variance"
    assert found.fix == (
        "Remove the duplicates, or keep them if they are real repeats: each one adds weight"
    )


def test_a_twentieth_of_the_rows_or_a_hundredth_in_conflict_are_enough() -> None:
    copies = data_of((torch.cat([numbered(95), numbered(5)]), [0] * 100))
    assert find_duplicates(copies, Origin()) is not None
    inputs, classes = torch.cat([numbered(398), numbered(2)]), [0] * 398 + [1, 1]
    assert find_duplicates(data_of((inputs, classes)), Origin()) is not None  # four in conflict
    fewer = data_of((torch.cat([numbered(399), numbered(1)]), [0] * 399 + [1]))
    assert find_duplicates(fewer, Origin()) is None


def test_a_few_copies_are_no_illness() -> None:
    inputs = torch.cat([numbered(97), numbered(3)])
    classes = [0, 1] * 48 + [0] + [0, 1, 0]
    assert find_duplicates(data_of((inputs, classes)), Origin()) is None


def test_equal_rows_of_different_classes_are_told_sooner() -> None:
    inputs = torch.cat([numbered(97), numbered(3)])
    classes = [0, 1] * 48 + [0] + [1, 0, 1]
    found = find_duplicates(data_of((inputs, classes)), Origin())
    assert found is not None
    assert found.sentence == (
        "3 of 100 (3.0%) training rows are duplicates; 6 rows have a duplicate with a different "
        "class"
    )
    assert (found.fix, found.see) == (
        "Decide which class duplicate rows have, and remove the duplicates",
        "label-smoothing",
    )


def test_duplicates_and_conflicts_are_named_by_their_rows() -> None:
    inputs = torch.cat([numbered(97), numbered(3)]).numpy()
    classes = np.array([0, 1] * 48 + [0] + [1, 0, 1])
    data = from_arrays(inputs, classes, config=ArraysConfig(val_size=0, test_size=0))
    found = find_duplicates(data, Origin(source=(inputs, classes)))
    assert found is not None
    assert found.illness == DUPLICATES.illness == "duplicates"
    copies, conflicts = found.sentence.split("; ")
    assert copies.endswith("are duplicates (row 0 = 97, 1 = 98, 2 = 99)")
    assert conflicts.endswith("a different class (row 0 = 97, 1 = 98, 2 = 99)")


def test_rows_of_a_few_categories_are_no_copies() -> None:
    chance = torch.Generator().manual_seed(0)
    inputs = torch.randint(3, (400, 2), generator=chance).float()
    classes = torch.randint(2, (400,), generator=chance)
    assert find_duplicates(data_of((inputs, classes.tolist())), Origin()) is None
