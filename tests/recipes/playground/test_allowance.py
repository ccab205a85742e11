"""An allowance: a share of the time in the long run, no rush after a long wait."""

import pytest

from netwright.recipes.playground.allowance import MOST, Allowance


@pytest.mark.parametrize("cost", [0.001, 0.01, 0.1])
def test_in_the_long_run_it_is_a_share_of_the_time(cost: float) -> None:
    allowance, spent = Allowance(0.05), 0.0
    for step in range(10_000):
        if allowance.is_left(step * 0.01):
            allowance.spend(cost)
            spent += cost
    assert abs(spent - 0.05 * 100) <= cost + MOST


def test_one_that_costs_much_is_waited_for_and_cheap_ones_follow_each_other() -> None:
    allowance = Allowance(0.1)
    assert allowance.is_left(0.0)
    allowance.spend(0.01)
    assert not allowance.is_left(0.09) and allowance.is_left(0.11)


def test_after_a_long_wait_there_is_no_rush() -> None:
    allowance = Allowance(0.5)
    assert allowance.is_left(1000.0)
    allowance.spend(MOST + 0.5)
    assert not allowance.is_left(1000.9) and allowance.is_left(1001.1)
