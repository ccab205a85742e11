"""Steeper energies: the contract, and the three shares at full size."""

from typing import Any

import pytest

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.hopfield_higher_order import HIGHER_ORDER


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check: Any) -> None:
    check(HIGHER_ORDER)


def test_three_energies_recall_none_nearly_all_and_all() -> None:
    square, cube, exponential = HIGHER_ORDER.check(size="full").findings
    assert {finding.n for finding in (square, cube, exponential)} == {2000}
    assert square.measured == 0.0
    assert cube.measured >= 0.95
    assert exponential.measured == 1.0
