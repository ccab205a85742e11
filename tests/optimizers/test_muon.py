"""Muon: what it does to singular values, two references, its groups, and what it refuses."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.optimizers.muon import AdjustRate, Muon, orthogonalized
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS, Build
from tests.repetition import for_each

SHAPES = [(6, 4), (4, 6), (6, 4), (5, 5), (3, 2, 2, 2)]
STEPS = 50


def drawn(*shape: int, name: str = "muon") -> Tensor:
    return torch.randn(shape, generator=generator(0, name), dtype=torch.float64)


def polynomial_on_singular_values(matrix: Tensor) -> Tensor:
    """The same by another way: five rounds of the polynomial on S in U S V'."""
    u, s, v = torch.linalg.svd(matrix, full_matrices=False)
    s = s / s.norm()
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    turned: Tensor = u @ torch.diag(s) @ v
    return turned


def by_singular_values(
    start: Tensor, gradients: Tensor, *, adjust: str, lr: float, weight_decay: float
) -> Tensor:
    """Muon on one weight without lists, stacks or transposes: the naive reference."""
    weight, mean = start, torch.zeros_like(start)
    rows, columns = start.flatten(1).shape
    factors = {"original": max(1, rows / columns), "match_rms_adamw": 0.04 * max(rows, columns)}
    factor = factors[adjust] ** 0.5
    for noise in gradients:
        gradient = weight + noise
        mean = 0.95 * mean + 0.05 * gradient
        ahead = 0.95 * mean + 0.05 * gradient
        step = polynomial_on_singular_values(ahead.flatten(1)).view_as(weight)
        weight = (1 - lr * weight_decay) * weight - lr * factor * step
    return weight


def test_singular_values_come_near_one_and_their_vectors_stay() -> None:
    matrix = drawn(8, 12)
    turned = orthogonalized(matrix[None])[0]
    torch.testing.assert_close(turned, polynomial_on_singular_values(matrix), rtol=0, atol=1e-13)


def test_five_rounds_bring_all_but_tiny_singular_values_near_one() -> None:
    values = torch.cat((torch.tensor([1e-6]), torch.logspace(-2.95, -0.7, 60))).double()
    values = values / values.norm()
    ends = orthogonalized(torch.diag(values)[None])[0].diagonal()
    assert ends[0].item() == pytest.approx(3.4445**5 * values[0].item(), rel=1e-3)
    assert 0.002 < values[1].item() < 0.0025
    assert 0.68 < ends[1:].min().item()
    assert ends.max().item() < 1.21


def test_size_does_not_count_and_nothing_stays_nothing() -> None:
    matrix = drawn(1, 3, 4)
    torch.testing.assert_close(orthogonalized(1e6 * matrix), orthogonalized(matrix))
    assert torch.equal(orthogonalized(torch.zeros(1, 3, 4)), torch.zeros(1, 3, 4))


@pytest.mark.parametrize("adjust", ["original", "match_rms_adamw"])
def test_weights_of_all_shapes_agree_with_the_naive_reference(adjust: AdjustRate) -> None:
    starts = [drawn(*shape, name=f"start {index}") for index, shape in enumerate(SHAPES)]
    noises = [drawn(STEPS, *shape, name=f"noise {index}") for index, shape in enumerate(SHAPES)]
    weights = [nn.Parameter(start.clone()) for start in starts]
    optimizer = Muon(weights, lr=0.02, weight_decay=0.1, adjust_lr_fn=adjust)
    for step in range(STEPS):
        for weight, noise in zip(weights, noises, strict=True):
            weight.grad = weight.detach() + noise[step]
        optimizer.step()
    for weight, start, noise in zip(weights, starts, noises, strict=True):
        expected = by_singular_values(start, noise, adjust=adjust, lr=0.02, weight_decay=0.1)
        torch.testing.assert_close(weight.detach(), expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # torch's, without bfloat16 in the CPU
@pytest.mark.parametrize("adjust", ["original", "match_rms_adamw"])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)], ids=str)
def test_torchs_muon_in_bfloat16_ends_within_half_a_percent(
    shape: tuple[int, int], adjust: AdjustRate
) -> None:
    start, floor = drawn(*shape, name="start").float(), drawn(*shape, name="floor").float()
    noise, ends = drawn(STEPS, *shape, name="noise").float() / 10, []
    settings: dict[str, Any] = {"lr": 0.02, "weight_decay": 0.1, "adjust_lr_fn": adjust}
    for make in (Muon, torch.optim.Muon):
        weight = nn.Parameter(start.clone())
        optimizer = make([weight], **settings)
        for step in range(STEPS):
            weight.grad = weight.detach() - floor + noise[step]
            optimizer.step()
        ends.append(weight.detach())
    ours, theirs = ends
    # Five rounds in 8 bits are off by about a hundredth a step, at random.
    assert ((ours - theirs).norm() / (theirs - start).norm()).item() < 5e-3


def test_biases_and_gains_take_the_steps_of_adamw() -> None:
    matrix, bias = nn.Parameter(drawn(2, 3)), nn.Parameter(drawn(3, name="bias"))
    twin = nn.Parameter(bias.detach().clone())
    ours = Muon([matrix, bias], adam_lr=0.05, adam_betas=(0.8, 0.9), weight_decay=0.1)
    theirs = torch.optim.AdamW([twin], lr=0.05, betas=(0.8, 0.9), weight_decay=0.1)
    for step in range(5):
        bias.grad = twin.grad = drawn(3, name=f"step {step}")
        ours.step()
        theirs.step()
    assert torch.equal(bias, twin)


def test_a_group_is_split_and_schedules_move_both_rates() -> None:
    net = nn.Sequential(nn.Conv1d(2, 3, 2), nn.LayerNorm(4))
    optimizer = Muon(net.named_parameters(), lr=0.4, adam_lr=0.1)
    matrices, others = optimizer.param_groups
    assert matrices["param_names"] == ["0.weight"]
    assert others["param_names"] == ["0.bias", "1.weight", "1.bias"]
    schedule = LambdaLR(optimizer, lambda step: 0.5**step)
    optimizer.step()
    schedule.step()
    assert (matrices["lr"], others["lr"]) == (0.2, 0.05)


def test_groups_keep_their_own_settings() -> None:
    weights = [nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(2))]
    optimizer = Muon([{"params": weights, "lr": 0.3, "adam_lr": 0.2, "weight_decay": 0.1}])
    assert [group["lr"] for group in optimizer.param_groups] == [0.3, 0.2]
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.1, 0.1]


def test_resumes_exactly_with_matrices_and_biases() -> None:
    def train(net: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            net(torch.ones(1, 3)).square().sum().backward()
            optimizer.step()

    straight = nn.Linear(3, 2)
    stopped = nn.Linear(3, 2)
    stopped.load_state_dict(straight.state_dict())
    train(straight, Muon(straight.parameters()), 6)
    first, second = (Muon(stopped.parameters()) for _ in range(2))
    train(stopped, first, 3)
    second.load_state_dict(first.state_dict())
    train(stopped, second, 3)
    for weight, other in zip(straight.parameters(), stopped.parameters(), strict=True):
        assert torch.equal(weight, other)


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check: Callable[[Build], None]) -> None:
    check(lambda params: Muon(params, adam_lr=0.1))


@for_each(
    ("settings", "sentence"),
    [
        ({"lr": -1.0}, "lr must not be negative, got -1.0"),
        ({"adam_lr": -1.0}, "adam_lr must not be negative, got -1.0"),
        ({"weight_decay": -1.0}, "weight_decay must not be negative, got -1.0"),
        ({"momentum": 1.0}, "momentum must lie in [0, 1), got 1.0"),
        ({"ns_steps": 0}, "ns_steps must be positive, got 0"),
        ({"adam_betas": (0.9, 1.0)}, "adam_betas[1] must lie in [0, 1), got 1.0"),
        (
            {"adjust_lr_fn": "none"},
            "adjust_lr_fn must be 'original' or 'match_rms_adamw', got 'none'",
        ),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        Muon([nn.Parameter(torch.zeros(1))], **settings)
