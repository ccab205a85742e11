"""How many units to keep: the sweep and its verdict."""

import pytest
import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.theory.held_out import digits
from netwright.theory.regularisation.dropout_rate import DROPOUT_RATE, mislabelled
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(DROPOUT_RATE)


def test_the_loss_at_one_half_is_compared_with_the_best_and_with_no_dropout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {0.25: 4.0, 0.5: 2.3, 0.8: 2.0, 1.0: 3.22}  # no loss is 1: ratios are no products

    def losses(given, kept, seed):  # type: ignore[no-untyped-def]
        return [found[p] for p in kept]

    monkeypatch.setattr("netwright.theory.regularisation.dropout_rate.test_losses", losses)
    near, helps = DROPOUT_RATE.check().findings
    assert (near.measured, helps.measured) == pytest.approx((1.15, 1.4))
    assert (near.holds, helps.holds) == (False, True)
    assert (near.n, helps.n) == (2, 2)
    assert DROPOUT_RATE.check(tolerance=0.2).holds
    found[1.0] = 2.32  # as good without dropout
    assert not DROPOUT_RATE.check(tolerance=0.2).holds


def test_losses_are_compared_within_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = iter([1.0, 10.0])  # one try has digits that are hard for all

    def losses(given, kept, seed):  # type: ignore[no-untyped-def]
        scale = next(scales)
        return [scale * (2.0 if p == 1 else 1 + abs(p - 0.5)) for p in kept]

    monkeypatch.setattr("netwright.theory.regularisation.dropout_rate.test_losses", losses)
    helps = DROPOUT_RATE.check().findings[1]
    assert helps.interval == pytest.approx((2.0, 2.0))


def test_a_fifth_of_the_labels_to_learn_from_is_drawn_anew_and_none_of_the_test() -> None:
    clean = digits(1500, 0)
    wrong = mislabelled(clean, 0)
    changed = (wrong.train.targets != clean.train.targets).float().mean()
    assert changed.item() == pytest.approx(0.2 * 0.9, abs=0.03)  # one in ten draws is the old one
    assert wrong.split("test") is clean.split("test")


@pytest.mark.slow
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
