"""The cost of a gradient: counted, in units of one evaluation."""

import pytest

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.counting.reverse_mode_cost import BATCH, REVERSE_MODE_COST, count_cost


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(REVERSE_MODE_COST)


def test_operations_of_a_small_network_by_hand() -> None:
    cost = count_cost(64, 1, one_output=True)  # 64 -> 64 -> 64
    product = 2 * BATCH * 64 * 64
    assert cost.forward == 2 * product
    assert cost.gradient == (2 + 2 + 1) * product  # values, weights, states; none for the inputs
    assert cost.parameters == 2 * (64 * 64 + 64)


@pytest.mark.parametrize("width", [64, 1024])
def test_the_ratio_does_not_depend_on_the_width(width: int) -> None:
    cost = count_cost(width, 3, one_output=True)
    assert cost.gradient / cost.forward == 2.75


def test_the_cost_itself_grows_with_the_parameters() -> None:
    small, large = (count_cost(width, 3, one_output=True) for width in (64, 1024))
    assert large.gradient / small.gradient == 256


def test_a_jacobian_costs_a_pass_for_each_output() -> None:
    one, every = (count_cost(64, 3, one_output=only) for only in (True, False))
    assert every.gradient - every.forward == 64 * (one.gradient - one.forward)


def test_the_card_says_that_the_literal_statement_is_wrong() -> None:
    assert "independent of the number of parameters" in REVERSE_MODE_COST.card.misprint


def test_more_layers_than_are_soon_counted_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^layers must be at most 50, got 1000$"):
        REVERSE_MODE_COST.check(layers=1000)
