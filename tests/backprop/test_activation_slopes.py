"""Slopes of activations by hand: differences, torch's own modules, and the values at corners."""

import pytest
import torch

from netwright.backprop.activation_slopes import (
    WORKED,
    ActivationKept,
    WorkedActivation,
    activation_backward,
    activation_forward,
)
from netwright.core.errors import ShapeError, UnknownNameError
from netwright.layers.activations import ACTIVATIONS, build_activation
from tests.backprop.references import STEP, assert_equal, autograd_gradients, numbers
from tests.repetition import for_each

# No point lies within a step of a corner.
POINTS = torch.arange(-4.9, 5, 0.2, dtype=torch.float64)


def test_every_activation_of_the_catalog_is_worked_and_the_step() -> None:
    assert set(WORKED) == {*ACTIVATIONS, "step"}


@for_each("name", WORKED)
def test_a_slope_is_the_limit_of_differences(name: str) -> None:
    _, kept = activation_forward(name, POINTS)
    value = WORKED[name].value
    slopes = (value(POINTS + STEP) - value(POINTS - STEP)) / (2 * STEP)
    assert_equal(activation_backward(kept, torch.ones_like(POINTS)), slopes, 1e-8)


@for_each("name", ACTIVATIONS)
def test_values_and_slopes_are_those_of_torch(name: str) -> None:
    module, delta = build_activation(name), numbers(len(POINTS) + 3)
    z = torch.cat([POINTS, torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)])  # the corners
    a, kept = activation_forward(name, z)
    assert_equal(a, module(z))
    (expected,) = autograd_gradients(module, [z], delta)
    assert_equal(activation_backward(kept, delta), expected)


def test_softplus_is_exact_where_torchs_is_the_line() -> None:
    z = torch.tensor([20.5, 25.0, 30.0], dtype=torch.float64)
    a, kept = activation_forward("softplus", z)
    assert_equal(a - z, torch.log1p((-z).exp()), 1e-14)
    assert_equal(1 - activation_backward(kept, torch.ones_like(z)), (-z).exp(), 1e-14)
    assert torch.equal(build_activation("softplus")(z), z)
    assert (a - z)[0].item() == pytest.approx(1.25e-9, rel=0.01)


@for_each("name", WORKED)
def test_values_and_slopes_stay_finite_and_bounded_far_out(name: str) -> None:
    z = torch.tensor([-1e4, -50.0, 50.0, 1e4])
    a, kept = activation_forward(name, z)
    slopes = activation_backward(kept, torch.ones(4))
    assert a.isfinite().all()
    assert ((slopes >= -1e-6) & (slopes <= 1 + 1e-6)).all()
    assert slopes.dtype == a.dtype == z.dtype


@pytest.mark.covers("chain-rule")
def test_slopes_of_a_chain_multiply() -> None:
    square = WorkedActivation(value=torch.square, slope=lambda z, a: 2 * z)
    sine = WorkedActivation(value=torch.sin, slope=lambda z, a: torch.cos(z))
    inner = ActivationKept(square, POINTS, square.value(POINTS))
    outer = ActivationKept(sine, inner.a, sine.value(inner.a))
    slope = activation_backward(inner, activation_backward(outer, torch.ones_like(POINTS)))
    ends = [torch.sin((POINTS + step).square()) for step in (STEP, -STEP)]
    assert_equal(slope, (ends[0] - ends[1]) / (2 * STEP), 1e-7)
    assert_equal(slope, 2 * POINTS * torch.cos(POINTS.square()))


def test_an_unknown_activation_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match=r"^unknown activation 'tan'; did you mean 'tanh'\?$"
    ):
        activation_forward("tan", POINTS)


def test_a_delta_of_another_shape_is_refused() -> None:
    _, kept = activation_forward("tanh", torch.zeros(4, 3))
    with pytest.raises(ShapeError, match=r"^delta must have shape \(4, 3\), got \(1, 3\)$"):
        activation_backward(kept, torch.zeros(1, 3))
