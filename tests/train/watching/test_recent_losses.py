"""Losses since the last row: the mean of updates, with all that may happen in between."""

import pytest
import torch

from netwright.train.watching.recent_losses import MOST_HELD, RecentLosses

CPU = torch.device("cpu")


def noted(*losses: float, share: float = 1.0) -> RecentLosses:
    recent = RecentLosses(CPU)
    for loss in losses:
        recent.add(torch.tensor(loss), share)
        recent.close()
    return recent


def test_the_sum_is_over_updates_weighted_by_shares() -> None:
    recent = noted(1.0, 2.0)
    recent.add(torch.tensor(4.0), 0.75)  # three of the four rows of an update
    recent.add(torch.tensor(8.0), 0.25)
    assert (float(recent.sum()), recent.updates) == (3.0, 2)  # its update is still to come
    recent.close()
    assert (float(recent.sum()), recent.updates) == (3.0 + 3.0 + 2.0, 3)


def test_an_update_that_is_left_out_takes_its_losses_with_it() -> None:
    recent = noted(1.0)
    recent.add(torch.tensor(torch.nan), 0.5)
    recent.add(torch.tensor(5.0), 0.5)
    recent.drop()
    recent.drop()  # nothing more waits
    assert (float(recent.sum()), recent.updates) == (1.0, 1)


def test_a_row_forgets_what_it_told_and_keeps_what_waits() -> None:
    recent = noted(*range(2 * MOST_HELD))
    recent.add(torch.tensor(3.0), 1.0)
    recent.begin()
    assert (float(recent.sum()), recent.updates) == (0.0, 0)
    recent.close()
    assert (float(recent.sum()), recent.updates) == (3.0, 1)


def test_long_stretches_are_added_up_on_the_way() -> None:
    recent = noted(*[0.5] * (3 * MOST_HELD + 1))
    assert len(recent.held) == 1
    assert float(recent.sum()) == 0.5 * (3 * MOST_HELD + 1)


@pytest.mark.parametrize("cut", [1, MOST_HELD, MOST_HELD + 3])
def test_a_run_that_goes_on_adds_up_the_same_numbers_in_the_same_order(cut: int) -> None:
    losses = torch.randn(100, generator=torch.Generator().manual_seed(0)).tolist()
    whole, parted = noted(*losses), RecentLosses(CPU)
    parted.load_state_dict(noted(*losses[:cut]).state_dict())
    for loss in losses[cut:]:
        parted.add(torch.tensor(loss), 1.0)
        parted.close()
    assert torch.equal(parted.sum(), whole.sum())
    assert parted.state_dict().keys() == whole.state_dict().keys()


def test_what_ranks_noted_becomes_that_of_one() -> None:
    one = RecentLosses(CPU)
    one.load_states(
        [noted(1.0, 2.0, share=0.5).state_dict(), noted(3.0, 4.0, share=0.5).state_dict()]
    )
    assert (float(one.sum()), one.updates) == (5.0, 2)


def test_of_a_first_update_that_is_left_out_nothing_is_counted() -> None:
    recent = RecentLosses(CPU)
    for loss in (torch.nan, 5.0):
        recent.add(torch.tensor(loss), 0.5)
    assert float(recent.sum()) == 0.0
    recent.drop()
    recent.close()
    assert (float(recent.sum()), recent.held) == (0.0, [])
