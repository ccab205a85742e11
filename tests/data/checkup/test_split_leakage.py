"""Rows to report on that were learned from: counted, named, and a stray one forgiven."""

from dataclasses import replace

import torch

from netwright.data.checkup.origin import Origin
from netwright.data.checkup.split_leakage import SPLIT_LEAKAGE, find_split_leakage
from netwright.data.tables.table import TableConfig
from tests.data.checkup.rows import data_of, numbered


def test_test_rows_that_were_learned_from_are_counted_and_named() -> None:
    test = torch.cat([numbered(7, start=100), numbered(3, start=4)])
    found = find_split_leakage(data_of((numbered(20), [0, 1] * 10), (test, [0, 1] * 5)), Origin())
    assert found is not None
    assert found.sentence == (
        "3 of 10 (30.0%) test rows have inputs that also occur in train: they do not measure "
        "generalisation"
    )
    assert found.fix == "Remove duplicate rows before splitting"
    assert (found.illness, found.see) == (SPLIT_LEAKAGE.illness, "early-stopping")


def test_every_split_that_leaks_is_told_of_and_a_column_can_keep_copies_together() -> None:
    train = (numbered(20), [0, 1] * 10)
    data = data_of(train, (numbered(10), [0, 1] * 5))
    data = replace(data, val=data.train.take(torch.arange(4)))
    found = find_split_leakage(data, Origin(config=TableConfig(target=("y",))))
    assert found is not None
    assert found.sentence.startswith(
        "4 of 4 (100.0%) val rows and 10 of 10 (100.0%) test rows have"
    )
    assert found.fix == (
        "Remove duplicate rows before splitting, or assign all copies of a row to the same split "
        "in a column named by data.split_column"
    )


def test_the_target_does_not_matter() -> None:
    leaked = data_of((numbered(6), [0, 1] * 3), (numbered(6), [1, 0] * 3))
    assert find_split_leakage(leaked, Origin()) is not None


def test_two_equal_rows_or_less_than_one_in_a_hundred_are_no_illness() -> None:
    train = (numbered(500), [0, 1] * 250)
    two = torch.cat([numbered(8, start=1000), numbered(2)])
    assert find_split_leakage(data_of(train, (two, [0, 1] * 5)), Origin()) is None
    three = torch.cat([numbered(397, start=1000), numbered(3)])
    assert find_split_leakage(data_of(train, (three, [0, 1] * 200)), Origin()) is None
    hundredth = data_of(train, (three[100:], [0, 1] * 150))
    assert find_split_leakage(hundredth, Origin()) is not None


def test_one_split_cannot_leak() -> None:
    assert find_split_leakage(data_of((numbered(6), [0, 1] * 3)), Origin()) is None


def test_rows_of_a_few_categories_have_not_leaked() -> None:
    chance = torch.Generator().manual_seed(0)
    inputs = torch.randint(3, (500, 2), generator=chance).float()
    data = data_of((inputs[:400], [0, 1] * 200), (inputs[400:], [0, 1] * 50))
    assert find_split_leakage(data, Origin()) is None
