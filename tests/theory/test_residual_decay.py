"""Weight decay alone: where residual and plain networks go, and how fast."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.residual_decay import (
    RESIDUAL_IDENTITY,
    ResidualDecayConfig,
    build_net,
    distances,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(RESIDUAL_IDENTITY)


@pytest.mark.covers("residual-weight-decay-identity")
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_residual_network_becomes_the_identity_and_a_plain_one_zero(activation: str) -> None:
    given = ResidualDecayConfig()
    x = torch.randn(8, given.width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    residual = distances(given, build_net(given, activation, True, 0), x, x)
    plain = distances(given, build_net(given, activation, False, 0), x, torch.zeros_like(x))
    assert len(residual) == 13  # the start, and every tenth of 120 steps
    assert residual[0] > 0.5
    assert residual[-1] < 1e-3
    assert plain[-1] < 1e-3


def test_decay_is_one_factor_a_step() -> None:
    given = ResidualDecayConfig(lr=0.1, weight_decay=0.5, steps=20)
    net = build_net(given, "relu", True, 0)
    before = net.head.weight.detach().clone()
    distances(given, net, torch.ones(1, given.width, dtype=torch.float64), torch.zeros(1))
    torch.testing.assert_close(net.head.weight.detach(), before * 0.95**21)


def test_without_decay_nothing_moves_and_the_verdict_turns() -> None:
    verdict = RESIDUAL_IDENTITY.check(weight_decay=0.0)
    assert not verdict.holds
    assert verdict.findings[2].measured == pytest.approx(1)
