"""Polyak's heavy ball: steps by hand, its law, the shared contract, and what it refuses."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.optimizers.heavy_ball import HEAVY_BALL, HeavyBall
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS, Build
from tests.repetition import for_each


def test_two_steps_by_hand() -> None:
    # Decay: 0.95 * 1 = 0.95; then -0.1 * 2 gives 0.75. Decay: 0.7125; the last step of -0.2 goes
    # on by half, with -0.1 * 3: 0.7125 - 0.1 - 0.3 = 0.3125. The decay itself does not go on.
    weight = nn.Parameter(torch.tensor([1.0]))
    optimizer = HeavyBall([weight], lr=0.1, momentum=0.5, weight_decay=0.5)
    for gradient, place in ((2.0, 0.75), (3.0, 0.3125)):
        weight.grad = torch.tensor([gradient])
        optimizer.step()
        assert weight.item() == pytest.approx(place)


def test_a_fallen_rate_does_not_shorten_the_last_step() -> None:
    weight = nn.Parameter(torch.zeros(1))
    optimizer = HeavyBall([weight], lr=1.0)
    weight.grad = torch.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer.step()
    assert weight.item() == pytest.approx(-1.9)  # momentum would stand still at -1


def test_the_class_begins_at_the_rate_of_its_name() -> None:
    assert HeavyBall([nn.Parameter(torch.zeros(1))]).defaults["lr"] == HEAVY_BALL.lr


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check: Callable[[Build], None]) -> None:
    check(lambda params: HeavyBall(params, lr=0.01))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lr": float("nan")}, "lr must not be negative, got nan"),
        ({"momentum": 1.0}, "momentum must lie in [0, 1), got 1.0"),
        ({"weight_decay": -0.1}, "weight_decay must not be negative, got -0.1"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        HeavyBall([nn.Parameter(torch.zeros(1))], **settings)
