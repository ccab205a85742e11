"""Groups are dealt out whole, in the sizes that are wanted as far as they allow it."""

import numpy as np
import pandas as pd
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.data.groups import deal_groups, read_groups
from tests.repetition import for_each


def test_groups_are_numbered_whatever_they_are_called() -> None:
    for names in (["b", "a", "b"], np.array([7, 3, 7]), pd.Series(["y", "x", "y"])):
        found = read_groups(names, 3)
        assert found is not None
        assert found.tolist() == [1, 0, 1]
    assert read_groups(None, 3) is None


def test_refuses_what_is_no_group_for_each_row() -> None:
    with pytest.raises(ShapeError, match=r"groups must have shape \(3,\), got \(2,\)"):
        read_groups([1, 2], 3)
    with pytest.raises(DataError, match="groups must not be missing, got None in row 1"):
        read_groups(["a", None, "b"], 3)
    with pytest.raises(ConfigError, match="got 'patient': only a table has columns by name"):
        read_groups("patient", 3)


@for_each("seed", range(5))
def test_every_row_is_in_one_part_and_no_group_in_two(seed: int) -> None:
    groups = torch.randint(0, 30, (400,), generator=torch.Generator().manual_seed(seed))
    wanted = [280.0, 40.0, 80.0]
    parts = deal_groups(groups, wanted, seed)
    assert torch.cat(parts).sort().values.equal(torch.arange(400))
    held = [set(groups[part].tolist()) for part in parts]
    assert sum(map(len, held)) == len(set.union(*held)) == 30
    largest = int(groups.bincount().max())
    for part, count in zip(parts, wanted, strict=True):
        assert abs(len(part) - count) <= largest
    assert all(part.equal(part.sort().values) for part in parts)


def test_the_seed_decides_among_groups_of_one_size() -> None:
    groups = torch.arange(100) // 5
    drawn = {tuple(deal_groups(groups, [80, 20], seed)[1].tolist()) for seed in range(6)}
    assert len(drawn) > 1
    first, again = (deal_groups(groups, [80, 20], 3) for _ in range(2))
    assert all(map(torch.equal, first, again))


def test_a_large_group_is_learned_from_and_few_groups_leave_no_part_empty() -> None:
    groups = torch.cat([torch.zeros(50), torch.arange(1, 51)]).long()
    train, val = deal_groups(groups, [80, 20], 0)
    assert 0 in train
    assert len(val) == 20
    three = torch.tensor([0] * 90 + [1] * 5 + [2] * 5)
    assert [len(part) for part in deal_groups(three, [70, 10, 20], 0)] == [90, 5, 5]
    with pytest.raises(DataError, match="2 groups are too few for 3 parts"):
        deal_groups(three % 2, [70, 10, 20], 0)
