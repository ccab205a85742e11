"""Chance minus truth: the claim, and what the gradient is where targets do not sum to one."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.layers.softmax import softmax
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.networks.softmax_gradient import (
    SOFTMAX_GRADIENT,
    central_differences,
    cross_entropy,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SOFTMAX_GRADIENT)


def test_differences_are_exact_for_a_quadratic() -> None:
    x = torch.tensor([[1.0, -2.0], [3.0, 0.5]], dtype=torch.float64)
    found = central_differences(lambda rows: rows.square().sum(dim=1), x)
    torch.testing.assert_close(found, 2 * x, rtol=0, atol=1e-9)


def test_without_a_sum_of_one_the_chances_count_that_often() -> None:
    numbers = torch.Generator().manual_seed(0)
    logits = torch.randn(20, 4, generator=numbers, dtype=torch.float64)
    targets = torch.rand(20, 4, generator=numbers, dtype=torch.float64)
    found = central_differences(lambda o: cross_entropy(o, targets), logits)
    expected = targets.sum(dim=1, keepdim=True) * softmax(logits) - targets
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)


def test_a_softmax_that_is_off_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "netwright.theory.networks.softmax_gradient.softmax", lambda o: softmax(1.001 * o)
    )
    assert not SOFTMAX_GRADIENT.check().holds


def test_two_classes_and_many_hold_and_one_is_refused() -> None:
    assert SOFTMAX_GRADIENT.check(classes=2).holds
    assert SOFTMAX_GRADIENT.check(classes=100).holds
    with pytest.raises(ConfigError, match=r"^classes must be at least 2, got 1$"):
        SOFTMAX_GRADIENT.check(classes=1)
