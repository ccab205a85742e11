"""Steeper energies: the contract, and the three shares at full size."""

from typing import Any

import pytest
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.memories import hopfield_higher_order
from netwright.theory.memories.hopfield_higher_order import (
    HIGHER_ORDER,
    NOISE,
    HigherOrderConfig,
    recalled_share,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check: Any) -> None:
    check(HIGHER_ORDER)


@pytest.mark.slow
def test_three_energies_recall_none_nearly_all_and_all() -> None:
    square, cube, exponential = HIGHER_ORDER.check(size="full").findings
    assert {finding.n for finding in (square, cube, exponential)} == {2000}
    assert square.measured == 0.0
    assert cube.measured >= 0.95
    assert exponential.measured == 1.0


def test_too_few_units_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^units must be at least 100, got 10$"):
        HIGHER_ORDER.check(units=10)


def test_the_chart_of_alike_patterns_says_that_they_are() -> None:
    assert "resemble" in HIGHER_ORDER.check(fair_bits=False).chart.caption


def test_one_bit_in_twenty_is_flipped_before_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []

    def look(states: Tensor, patterns: Tensor, power: int | None) -> Tensor:
        shares.append(float((states == -patterns).double().mean()))
        return states

    monkeypatch.setattr(hopfield_higher_order, "dense_sweep", look)
    share = recalled_share(HigherOrderConfig(), 2, 2, generator(0, "flips"))
    assert shares == pytest.approx([NOISE, NOISE], abs=0.01)
    assert share.mean < 0.03  # of 100 bits hardly ever none
