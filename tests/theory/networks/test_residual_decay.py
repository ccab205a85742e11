"""Weight decay alone: where residual and plain networks go, and how fast."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.optimizers.optimizer import build_optimizer
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.networks import residual_decay
from netwright.theory.networks.residual_decay import (
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
    assert len(residual) == 13  # the start, and twelve looks
    assert residual[0] > 0.5
    assert residual[-1] < 1e-3
    assert plain[-1] < 1e-3


def test_decay_is_one_factor_a_step() -> None:
    given = ResidualDecayConfig(lr=0.1, weight_decay=0.5)
    net = build_net(given, "relu", True, 0)
    before = net.head.weight.detach().clone()
    distances(given, net, torch.ones(1, given.width, dtype=torch.float64), torch.zeros(1))
    torch.testing.assert_close(net.head.weight.detach(), before * 0.95 ** (12 * given.every + 1))


@pytest.mark.parametrize("lr", [0.03, 0.49])
def test_slow_and_fast_decay_come_to_the_same_end(lr: float) -> None:
    assert RESIDUAL_IDENTITY.check(lr=lr).holds


@pytest.mark.parametrize(("weight_decay", "product"), [(0.0, "0"), (0.01, "0.001")])
def test_a_decay_without_end_is_refused(weight_decay: float, product: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"^lr times weight_decay must be from 0.005 to 0.5, got {product}$"
    ):
        RESIDUAL_IDENTITY.check(weight_decay=weight_decay)


def test_half_the_decay_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def slower(rule, net, lr, weight_decay):  # type: ignore[no-untyped-def]
        return build_optimizer(rule, net, lr=lr, weight_decay=weight_decay / 2)

    monkeypatch.setattr(residual_decay, "build_optimizer", slower)
    assert not RESIDUAL_IDENTITY.check().holds
