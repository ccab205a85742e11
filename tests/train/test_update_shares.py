"""The shares of batches in their update: by rows or by tokens, over ranks, to the last batch."""

from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.loading.loader import BatchLoader
from netwright.data.spec import IGNORED
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.tagging import Tagging
from netwright.train.update_shares import UpdateShares
from tests.train.token_data import tagged_data, text_data
from tests.train.toy_runs import toy_data

LENGTHS = (3, 2, 4, 1)  # of `tagged_data`


def shares(split: Split, task: Classification | Tagging, accumulate: int = 2, **how: Any) -> Tensor:
    loader = BatchLoader(split, how.pop("size", 1), shuffle=False, **how)
    return torch.tensor(UpdateShares(loader, task, accumulate).of_epoch(0))


def test_by_hand() -> None:
    tagged = tagged_data().train
    assert shares(tagged, Tagging(4)).tolist() == pytest.approx([3 / 5, 2 / 5, 4 / 5, 1 / 5])
    assert shares(tagged, Tagging(4), 3).tolist() == pytest.approx([3 / 9, 2 / 9, 4 / 9, 1])
    assert shares(tagged, Tagging(4), 1).tolist() == [1, 1, 1, 1]
    rows = toy_data(rows=5).train
    assert shares(rows, Classification(3), 2, size=2).tolist() == [0.5, 0.5, 1]


def test_a_new_order_has_new_shares() -> None:
    loader = BatchLoader(tagged_data().train, 1, seed=1)
    found = UpdateShares(loader, Tagging(4), 4)
    for epoch in range(3):
        wanted = [LENGTHS[row] / 10 for row in loader.order(epoch).tolist()]
        assert found.of_epoch(epoch) == pytest.approx(wanted)


@pytest.mark.parametrize("world", [2, 3])
def test_the_shares_of_all_ranks_and_batches_of_an_update_are_one(world: int) -> None:
    tagged = tagged_data().train
    parts = [shares(tagged, Tagging(4), 1, size=3, rank=rank, world=world) for rank in range(world)]
    torch.testing.assert_close(torch.stack(parts).sum(dim=0), torch.ones(2))
    assert parts[0][0] == pytest.approx((7 if world == 2 else 3) / 9)
    assert parts[1][1] == 0  # it has no row of its own


def test_full_windows_count_alike_and_nothing_counts_as_nothing() -> None:
    windows = text_data().train
    assert shares(windows, Tagging(5), 3, size=9).tolist() == pytest.approx([1 / 3] * 3)
    empty = Split(inputs=torch.zeros(2, 3), targets=torch.full((2, 3), IGNORED))
    assert shares(empty, Tagging(4)).tolist() == [0, 0]
