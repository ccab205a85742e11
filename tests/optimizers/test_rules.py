"""The update rules: the optimizers that train agree with them, and a step changes nothing."""

import inspect
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel, build_optimizer
from netwright.optimizers.rules import RULES, Moments, adam
from tests.repetition import for_each

STEPS = 50
RATES = {"adadelta": 1.0, "adagrad": 0.1, "lion": 0.01, "adam": 0.05, "adamw": 0.05, "nadam": 0.05}
DECAYS = {"adamw", "lion"}  # apart from the gradient, so that it is part of the rule
TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-6}
COARSER = {
    ("nadam", torch.float64): 1e-8,  # torch keeps the product of its momenta in float32
    ("heavy-ball", torch.float32): 1e-5,  # a difference of weights has fewer digits than a step
}


class Quadratic:
    """A random bowl 1/2 (w - c)' A (w - c) over three-by-four weights, seen through noise."""

    def __init__(self, dtype: torch.dtype) -> None:
        rng = generator(0, "quadratic")
        root = torch.randn(12, 12, generator=rng, dtype=torch.float64) / 4
        numbers = torch.randn(STEPS + 2, 12, generator=rng, dtype=torch.float64).to(dtype)
        self.curvature = (root @ root.T).to(dtype)
        self.floor, self.start, self.noise = numbers[0], numbers[1].view(3, 4), numbers[2:] / 3

    def gradient(self, weight: Tensor, step: int) -> Tensor:
        flat = self.curvature @ (weight.flatten() - self.floor) + self.noise[step]
        return flat.view(3, 4)


def rates(name: str) -> list[float]:
    """A learning rate that falls: a rule that keeps it in the wrong place is found out."""
    return [RATES.get(name, 0.05) / (1 + step / 10) for step in range(STEPS)]


def by_rule(name: str, task: Quadratic, settings: dict[str, Any]) -> Tensor:
    rule = RULES[name]
    weight, state = task.start, rule.start(task.start)
    for step, lr in enumerate(rates(name)):
        weight, state = rule.step(weight, task.gradient(weight, step), state, lr=lr, **settings)
    return weight


def by_optimizer(name: str, task: Quadratic, settings: dict[str, Any], kernel: Kernel) -> Tensor:
    weight = nn.Parameter(task.start.clone())
    settings = {"weight_decay": settings.get("weight_decay", 0.0), "kernel": kernel}
    optimizer = build_optimizer(OPTIMIZERS.load(name), nn.ParameterList([weight]), **settings)
    for step, lr in enumerate(rates(name)):
        optimizer.param_groups[0]["lr"] = lr
        weight.grad = task.gradient(weight.detach(), step)
        optimizer.step()
    return weight.detach()


def test_every_rule_has_an_optimizer_that_trains() -> None:
    assert set(RULES) <= set(OPTIMIZERS)


@for_each("name", RULES)
@for_each("kernel", ["auto", "foreach"])
@for_each("dtype", TOLERANCES, ids=str)
def test_the_optimizer_that_trains_agrees_with_its_rule(
    name: str, kernel: Kernel, dtype: torch.dtype
) -> None:
    task = Quadratic(dtype)
    settings = {"weight_decay": 0.1} if name in DECAYS else {}
    expected = by_rule(name, task, settings)
    assert (expected - task.start).abs().max().item() > 0.05
    actual = by_optimizer(name, task, settings, kernel)
    tolerance = COARSER.get((name, dtype), TOLERANCES[dtype])
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


@for_each("name", RULES)
def test_settings_have_the_names_and_defaults_of_the_optimizer(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    theirs = inspect.signature(entry.make).parameters
    for setting in inspect.signature(RULES[name].step).parameters.values():
        is_setting = setting.kind is inspect.Parameter.KEYWORD_ONLY
        if is_setting and setting.name not in {"lr", "weight_decay", "bias_correction"}:
            default = entry.presets.get(setting.name, theirs[setting.name].default)
            assert setting.default == default, setting.name


@for_each("name", RULES)
def test_a_step_changes_nothing_in_place(name: str) -> None:
    rule, weight = RULES[name], torch.tensor([1.0, -2.0])
    gradient, state = torch.tensor([0.5, 3.0]), rule.start(weight)
    first = rule.step(weight, gradient, state, lr=0.1)
    again = rule.step(weight, gradient, state, lr=0.1)
    assert torch.equal(first[0], again[0])
    assert torch.equal(weight, torch.tensor([1.0, -2.0]))
    assert torch.equal(gradient, torch.tensor([0.5, 3.0]))
    for kept, fresh in zip(state or (), rule.start(weight) or (), strict=True):
        assert torch.equal(torch.as_tensor(kept), torch.as_tensor(fresh))


def test_adam_without_its_correction_takes_a_first_step_3_16_times_as_long() -> None:
    zero, gradient = torch.zeros(1, dtype=torch.float64), torch.full((1,), 7.0).double()
    start = Moments(zero, zero, 0)
    right, _ = adam(zero, gradient, start, lr=0.1)
    wrong, after = adam(zero, gradient, start, lr=0.1, bias_correction=False)
    assert right.item() == pytest.approx(-0.1)
    assert (wrong / right).item() == pytest.approx(0.1 / math.sqrt(0.001), rel=1e-6)
    assert after.step == 1


def test_heavy_ball_parts_from_momentum_when_the_rate_changes() -> None:
    # Gradients of 1, rates 1 and then 0: the ball rolls on by 0.9, momentum stands still.
    weight, gradient = torch.zeros(1), torch.ones(1)
    ends = {}
    for name in ("momentum", "heavy-ball"):
        rule = RULES[name]
        place, state = rule.step(weight, gradient, rule.start(weight), lr=1.0)
        ends[name] = rule.step(place, gradient, state, lr=0.0)[0].item()
    assert ends == {"momentum": -1.0, "heavy-ball": pytest.approx(-1.9)}
