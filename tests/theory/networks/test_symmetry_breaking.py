"""Units that start alike: they stay alike, and 1/6 is the best they can do on XOR."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.networks.network_symmetries import affine_maps, random_net
from netwright.theory.networks.symmetry_breaking import (
    CORNERS,
    EQUAL_WEIGHTS,
    FLOOR,
    XOR,
    EqualWeightsConfig,
    largest_difference,
    starting_net,
    train,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(EQUAL_WEIGHTS)


def test_the_best_equal_units_are_wrong_by_a_sixth() -> None:
    net = random_net(2, (2,), "relu", seed=0)
    hidden, head = affine_maps(net)
    with torch.no_grad():  # 2/3 - 2/3 (x_1 + x_2 - 1)_+, by two equal units
        hidden.weight.fill_(1)
        hidden.bias.fill_(-1)
        head.weight.fill_(-1 / 3)
        head.bias.fill_(2 / 3)
    assert float((net(CORNERS) - XOR).square().mean().detach()) == pytest.approx(FLOOR)
    assert train(net, lr=0.05, steps=50)[-1] == pytest.approx(FLOOR)


def test_no_single_relu_of_the_sum_is_better() -> None:
    sums = CORNERS.sum(dim=1)
    kinks = torch.linspace(-3, 3, 601, dtype=torch.float64)
    for sign in (1, -1):
        features = (sign * (sums - kinks.unsqueeze(1))).relu()  # (kinks, 4)
        features = features - features.mean(dim=1, keepdim=True)
        targets = XOR.squeeze(1) - XOR.mean()
        power = features.square().sum(dim=1)
        explained = torch.where(power > 0, (features @ targets).square() / power, 0.0)
        assert float(targets.square().sum() - explained.max()) / 4 >= FLOOR - 1e-12


@pytest.mark.slow
def test_random_units_part_and_learn() -> None:
    given = EqualWeightsConfig(equal_start=False)
    net = starting_net(given, seed=0)
    assert largest_difference(net) > 0.1
    assert train(net, lr=0.2, steps=800)[-1] < 0.01


def test_difference_is_that_of_the_units() -> None:
    net = starting_net(EqualWeightsConfig(), seed=0)
    assert largest_difference(net) == 0
    with torch.no_grad():
        net.head.weight[0, 3] += 0.25
    assert largest_difference(net) == pytest.approx(0.25)


def test_a_step_so_long_that_weights_overflow_is_refused() -> None:
    assert EQUAL_WEIGHTS.check(lr=0.3).holds
    with pytest.raises(ConfigError, match=r"^lr must be at most 0\.3, got 39"):
        EQUAL_WEIGHTS.check(lr=39)
