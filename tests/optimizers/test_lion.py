"""Lion: steps by hand, the law it obeys, a task it solves, the contract, and what it refuses."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator, seeded
from netwright.optimizers.lion import Lion
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS, Build
from tests.repetition import for_each


def after_steps(start: list[float], *gradients: Tensor, **settings: Any) -> Tensor:
    weight = nn.Parameter(torch.tensor(start))
    optimizer = Lion([weight], **settings)
    for gradient in gradients:
        weight.grad = gradient
        optimizer.step()
    return weight.detach()


def test_first_step_by_hand() -> None:
    # Decay first: 0.95 * (1, -2) = (0.95, -1.9); then 0.1 against each sign.
    moved = after_steps([1.0, -2.0], torch.tensor([0.5, -3.0]), lr=0.1, weight_decay=0.5)
    torch.testing.assert_close(moved, torch.tensor([0.85, -1.8]))


def test_memory_outvotes_a_weak_gradient_but_not_a_strong_one() -> None:
    # Both keep m = 0.01 * 100 = 1. Then 0.9 - 0.5 > 0 goes on, and 0.9 - 2 < 0 turns back.
    first, second = torch.tensor([100.0, 100.0]), torch.tensor([-5.0, -20.0])
    moved = after_steps([0.0, 0.0], first, second, lr=0.1)
    torch.testing.assert_close(moved, torch.tensor([-0.2, 0.0]))


def two_moons() -> tuple[Tensor, Tensor]:
    """Two half circles that reach into each other, (200, 2), and which one each is on, (200,)."""
    angles = torch.pi * torch.rand(100, generator=generator(0, "moons"))
    upper = torch.stack((angles.cos(), angles.sin()), dim=1)
    points = torch.cat((upper, torch.tensor([1.0, 0.5]) - upper))
    return points, torch.arange(200) // 100


@pytest.mark.covers("lion")
def test_every_coordinate_moves_by_the_rate_and_a_small_task_is_solved() -> None:
    inputs, labels = two_moons()
    with seeded(0):
        net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).double()
    optimizer = Lion(net.parameters(), lr=0.01)
    for _ in range(300):
        before = [weight.detach().clone() for weight in net.parameters()]
        optimizer.zero_grad()
        torch.autograd.backward(F.cross_entropy(net(inputs.double()), labels))
        optimizer.step()
        for weight, old in zip(net.parameters(), before, strict=True):
            moved = (weight.detach() - old).abs()
            torch.testing.assert_close(moved, torch.full_like(moved, 0.01), rtol=0, atol=1e-14)
    assert (net(inputs.double()).argmax(dim=1) == labels).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_step_ignores_the_size_of_the_gradient(scale: float) -> None:
    moved = after_steps([0.0, 0.0], scale * torch.tensor([0.3, -0.7]), lr=0.01)
    torch.testing.assert_close(moved, torch.tensor([-0.01, 0.01]))


def test_a_coordinate_without_gradient_and_memory_stays() -> None:
    assert after_steps([1.0, 1.0], torch.tensor([0.0, 1.0]), lr=0.1)[0].item() == 1.0


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check: Callable[[Build], None]) -> None:
    check(lambda params: Lion(params, lr=0.02))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lr": float("nan")}, "lr must not be negative, got nan"),
        ({"betas": (0.9, 1.0)}, "betas[1] must lie in [0, 1), got 1.0"),
        ({"weight_decay": -0.1}, "weight_decay must not be negative, got -0.1"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        Lion([nn.Parameter(torch.zeros(1))], **settings)
