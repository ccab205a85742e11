"""Limits of the perceptron: XOR never ends, and the learning rate is only a scale."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.neurons.perceptron_limits import (
    CYCLES,
    LEARNING_RATE,
    answers,
    longest_reachable,
)
from netwright.theory.neurons.xor_networks import XOR


@pytest.mark.parametrize("claim", [CYCLES, LEARNING_RATE], ids=["cycles", "learning-rate"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.slow
@pytest.mark.covers("perceptron-nonseparable")
def test_ten_thousand_passes_over_xor_all_have_a_mistake() -> None:
    verdict = CYCLES.check(seed=1, size="full")
    free, longest = verdict.findings
    assert (free.measured, free.n) == (0, 10_000)
    assert longest.measured <= longest.predicted
    assert longest.predicted == longest_reachable(2 * XOR - 1) < 6


def test_or_is_learned_in_a_few_passes() -> None:
    verdict = CYCLES.check(inseparable=False)
    assert verdict.findings[0].measured > 1900


def test_answers_are_the_same_for_every_rate_from_zero_alone() -> None:
    numbers = torch.Generator().manual_seed(0)
    points = torch.randn(30, 3, generator=numbers, dtype=torch.float64)
    signs = torch.randn(30, generator=numbers, dtype=torch.float64).sign()
    zero, start = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    slow, fast = (answers(points, signs, rate, zero, 5, seed=0) for rate in (0.01, 100.0))
    assert torch.equal(slow, fast)
    assert slow.shape == (150,)
    slow, fast = (answers(points, signs, rate, start, 5, seed=0) for rate in (0.01, 100.0))
    assert not torch.equal(slow, fast)


@pytest.mark.parametrize(("points", "dimension"), [(2, 1), (3, 1), (50, 1)])
def test_rounding_makes_no_difference_between_rates(points: int, dimension: int) -> None:
    verdict = LEARNING_RATE.check(points=points, dimension=dimension, passes=20)
    assert [finding.measured for finding in verdict.findings] == [0, 0]


@pytest.mark.slow
def test_the_chart_of_a_separable_table_does_not_speak_of_cycles() -> None:
    assert CYCLES.check().chart.caption.startswith("No pass is free of mistakes")
    assert "no mistake is left" in CYCLES.check(inseparable=False).chart.caption
