"""The delta rule: its step is the slope, its end is least squares, its misprint is no slope."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.linear.least_squares import solve_least_squares
from netwright.models.neurons.delta_rule import (
    CURVATURE,
    DeltaRule,
    DeltaRuleConfig,
    Unit,
    delta,
    longest_safe_step,
    unit_output,
)
from netwright.testing.learner_contract import LEARNER_CHECKS
from tests.repetition import for_each


def spec(width: int, target: TargetKind = "real", outputs: int = 1) -> DataSpec:
    return DataSpec(inputs="features", input_shape=(width,), target=target, num_outputs=outputs)


def sample(outputs: int = 1) -> Split:
    numbers = torch.Generator().manual_seed(0)
    return Split(
        inputs=torch.randn(30, 3, generator=numbers, dtype=torch.float64),
        targets=torch.rand(30, outputs, generator=numbers, dtype=torch.float64),
        weights=torch.rand(30, generator=numbers, dtype=torch.float64),
    )


def energy(model: DeltaRule, data: Split) -> Tensor:
    assert data.weights is not None
    shares = data.weights / data.weights.sum()
    squares: Tensor = (model(data.inputs) - data.targets).square().sum(dim=1)
    return shares @ squares / 2


@for_each("check", LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_sigmoid_units_keep_the_learner_contract(check: Callable[[Any], None]) -> None:
    check(lambda: DeltaRule.build(DeltaRuleConfig(unit="sigmoid"), spec(4, "class", 3)))


def step_and_slope(unit: Unit) -> tuple[Tensor, Tensor]:
    """What one step moves the weights and biases by, and the slope there, by differences."""
    data = sample(2)
    rate = 0.3
    model = DeltaRule.build(DeltaRuleConfig(unit=unit, lr=rate), spec(3, outputs=2)).double()
    with torch.no_grad():
        for part in model.parameters():
            part.copy_(torch.randn(part.shape, generator=torch.Generator().manual_seed(1)))
    parts = list(model.parameters())
    slopes = []
    with torch.no_grad():
        for part in parts:
            flat = part.view(-1)
            for place in range(flat.numel()):
                around = []
                for shift in (1e-6, -2e-6):
                    flat[place] += shift
                    around.append(float(energy(model, data)))
                flat[place] += 1e-6
                slopes.append((around[0] - around[1]) / 2e-6)
    before = torch.cat([part.detach().flatten() for part in parts])
    next(model.fit_steps(data, seed=0))
    after = torch.cat([part.detach().flatten() for part in parts])
    return (after - before) / rate, torch.tensor(slopes, dtype=torch.float64)


@pytest.mark.covers("delta-rule")
def test_step_is_down_the_slope_and_the_end_is_least_squares() -> None:
    step, slope = step_and_slope("linear")
    torch.testing.assert_close(step, -slope, rtol=0, atol=1e-6)
    data = sample()
    model = DeltaRule.build(DeltaRuleConfig(epochs=2000), spec(3)).double()
    for _ in model.fit_steps(data, seed=0):
        pass
    weight, bias = solve_least_squares(data.inputs, data.targets, weights=data.weights)
    torch.testing.assert_close(model.sums.weight.detach(), weight, rtol=0, atol=1e-6)
    torch.testing.assert_close(model.sums.bias.detach(), bias, rtol=0, atol=1e-6)


@pytest.mark.covers("delta-rule-sigmoid")
def test_sigmoid_step_is_down_the_slope_and_the_misprint_is_not() -> None:
    step, slope = step_and_slope("sigmoid")
    torch.testing.assert_close(step, -slope, rtol=0, atol=1e-7)
    # e^{-wx+b} instead of e^{-(wx+b)}: right without a bias, wrong with one.
    w, x, t = 0.7, 1.3, 0.2
    for b, fits in ((0.0, True), (0.8, False)):

        def loss(weight: float, b: float = b) -> float:
            return (1 / (1 + float(torch.tensor(-(weight * x + b)).exp())) - t) ** 2 / 2

        output = 1 / (1 + float(torch.tensor(-w * x + b).exp()))
        printed = (output - t) * output * (1 - output) * x
        numeric = (loss(w + 1e-3) - loss(w - 1e-3)) / 2e-3
        assert (abs(printed - numeric) < 1e-4) == fits


def test_longest_safe_step_never_goes_uphill() -> None:
    units: tuple[Unit, ...] = ("linear", "sigmoid")
    for unit in units:
        model = DeltaRule.build(DeltaRuleConfig(unit=unit, epochs=100), spec(3, outputs=2)).double()
        errors = [step["squared_error"] for step in model.fit_steps(sample(2), seed=0)]
        assert all(after <= before + 1e-12 for before, after in pairwise(errors))
    data = sample()
    assert data.weights is not None
    shares = data.weights / data.weights.sum()
    safe = longest_safe_step(data.inputs, shares, "linear")
    model = DeltaRule.build(DeltaRuleConfig(lr=2.1 * safe, epochs=300), spec(3)).double()
    errors = [step["squared_error"] for step in model.fit_steps(data, seed=0)]
    assert errors[-1] > errors[0]  # beyond twice the safe step it runs away


def test_curvature_of_the_sigmoid_is_its_largest() -> None:
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    most = 0.0
    for target in (0.0, 0.3, 1.0):
        slope = delta(z, torch.full_like(z, target), "sigmoid")
        most = max(most, float((slope.diff() / z.diff()).abs().max()))
    assert most == pytest.approx(CURVATURE["sigmoid"], rel=0.002)
    assert CURVATURE["sigmoid"] >= most


def test_classes_are_plus_and_minus_one_or_one_and_zero() -> None:
    data = Split(inputs=torch.eye(3), targets=torch.arange(3))
    units: dict[Unit, tuple[float, float]] = {"linear": (1.0, -1.0), "sigmoid": (1.0, 0.0)}
    for unit, (hot, cold) in units.items():
        model = DeltaRule.build(
            DeltaRuleConfig(unit=unit, epochs=3_000, lr=20.0 if unit == "sigmoid" else None),
            spec(3, "class", 3),
        )
        for _ in model.fit_steps(data, seed=0):
            pass
        found = unit_output(model(data.inputs), model.unit).detach()
        goal = torch.full((3, 3), cold).fill_diagonal_(hot)
        torch.testing.assert_close(found, goal, rtol=0, atol=0.05)


def test_targets_beyond_the_sigmoid_are_refused() -> None:
    data = Split(inputs=torch.zeros(2, 1), targets=torch.tensor([[0.5], [3.0]]))
    model = DeltaRule.build(DeltaRuleConfig(unit="sigmoid"), spec(1))
    sentence = "a sigmoid unit reaches targets between 0 and 1, got 3"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        next(model.fit_steps(data, seed=0))
