"""Add and norm: the two orders by hand, and what dropout takes."""

import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.layers.attention.add_and_norm import AddAndNorm

X = torch.tensor([[[1.0, 3.0]]])
MADE = torch.tensor([[[2.0, -4.0]]])


def test_a_part_sees_the_norm_before_it_or_the_sum_is_normalised_after() -> None:
    norm = nn.LayerNorm(2, eps=0.0)
    before, after = (AddAndNorm(pre_norm=is_pre, dropout=0.0) for is_pre in (True, False))
    assert before.seen(X, norm).tolist() == [[[-1.0, 1.0]]]
    assert before.added(X, MADE, norm).tolist() == [[[3.0, -1.0]]]
    assert after.seen(X, norm) is X
    assert after.added(X, MADE, norm).tolist() == [[[1.0, -1.0]]]


def test_only_what_is_added_is_dropped() -> None:
    block = AddAndNorm(pre_norm=True, dropout=0.5)
    with seeded(0):
        total = block.added(torch.full((200,), 5.0), torch.ones(200), nn.Identity())
    assert set(total.tolist()) == {5.0, 7.0}
