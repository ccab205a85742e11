"""How many units to keep: the sweep and its verdict."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.dropout_rate import DROPOUT_RATE


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(DROPOUT_RATE)


def test_the_loss_at_one_half_is_compared_with_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    def losses(given, kept, seed):  # type: ignore[no-untyped-def]
        return [1 + abs(p - 0.35) for p in kept]

    monkeypatch.setattr("netwright.theory.dropout_rate.test_losses", losses)
    verdict = DROPOUT_RATE.check()
    assert verdict.measured == pytest.approx(1.15)
    assert not verdict.holds
    assert DROPOUT_RATE.check(tolerance=0.2).holds


@pytest.mark.covers("co-adaptation")
def test_dropout_spreads_the_weight_over_copies_and_plain_descent_does_not() -> None:
    def weights(dropout: float) -> torch.Tensor:
        with seeded(0):
            feature = torch.randn(200, 1)
            inputs, targets = feature.expand(200, 4), feature
            drop, linear = nn.Dropout(dropout), nn.Linear(4, 1, bias=False)
            linear.weight.data = torch.tensor([[0.9, 0.2, 0.3, 0.2]])
            descent = torch.optim.SGD(linear.parameters(), lr=0.02)
            for _ in range(1500):
                descent.zero_grad()
                (linear(drop(inputs)) - targets).square().mean().backward()
                descent.step()
        return linear.weight.detach()[0]

    alone, dropped = weights(0.0), weights(0.5)
    assert alone.max() / alone.min() > 3
    assert dropped.max() / dropped.min() < 1.3
