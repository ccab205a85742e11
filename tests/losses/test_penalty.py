"""Penalties by group, and the proximal step that ends at exactly zero."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.losses.penalty import Penalty, add_l2_slope, penalized, soft_threshold

WEIGHTS = [torch.tensor([[1.0, -2.0]]), torch.tensor([3.0])]


def test_worked_by_hand() -> None:
    assert Penalty(parameters=WEIGHTS, l1=0.5)() == 3.0
    assert Penalty(parameters=WEIGHTS, l2=0.5)() == 3.5
    assert Penalty(parameters=WEIGHTS, l1=0.5, l2=0.5)() == 6.5
    assert Penalty(parameters=WEIGHTS)() == 0.0


def test_gradients_are_sign_and_weight() -> None:
    weight = nn.Parameter(torch.tensor([1.0, -2.0, 0.0]))
    torch.autograd.backward(Penalty(parameters=[weight], l1=0.1, l2=0.5)())
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad, torch.tensor([0.6, -1.1, 0.0]))


def test_its_slope_is_added_to_the_gradients() -> None:
    used, unused = (nn.Parameter(torch.tensor([1.0, -2.0])) for _ in range(2))
    used.grad = torch.tensor([10.0, 10.0])
    add_l2_slope([used, unused], 0.5)
    assert used.grad.tolist() == [10.5, 9.0]
    assert unused.grad is not None
    assert unused.grad.tolist() == [0.5, -1.0]


def test_biases_and_gains_may_be_spared() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    model[2].weight.requires_grad_(False)
    assert len(penalized(model, "all")) == 5
    (weight,) = penalized(model, "weights")
    assert weight is model[0].weight


@given(st.lists(st.floats(-5, 5), min_size=1), st.floats(0, 3))
def test_soft_thresholding_solves_its_problem(values: list[float], amount: float) -> None:
    # It is the argmin over u of |u - w|^2 / 2 + amount |u|: no other u does better.
    weight = torch.tensor(values, dtype=torch.float64)
    moved = weight.clone()
    soft_threshold([moved], amount)
    torch.testing.assert_close(
        moved, weight.sign() * (weight.abs() - amount).clamp(min=0), rtol=0, atol=1e-15
    )
    cost = (moved - weight).square() / 2 + amount * moved.abs()
    for other in (moved + 0.01, moved - 0.01, torch.zeros_like(moved), weight):
        assert (cost <= (other - weight).square() / 2 + amount * other.abs() + 1e-12).all()


def test_proximal_steps_end_at_exact_zeros_where_subgradients_do_not() -> None:
    rng = generator(0)
    inputs = torch.randn(100, 20, generator=rng, dtype=torch.float64)
    truth = torch.zeros(20, dtype=torch.float64)
    truth[:4] = torch.tensor([2.0, -3.0, 1.0, 4.0])
    targets = inputs @ truth + 0.1 * torch.randn(100, generator=rng, dtype=torch.float64)
    strength, rate = 0.3, 0.1

    def descend(*, proximal: bool) -> Tensor:
        weight = torch.zeros(20, dtype=torch.float64)
        for _ in range(500):
            slope = inputs.T @ (inputs @ weight - targets) / 100
            weight = weight - rate * (slope if proximal else slope + strength * weight.sign())
            if proximal:
                soft_threshold([weight], rate * strength)
        return weight

    assert int((descend(proximal=True) == 0).sum()) == 16
    assert int((descend(proximal=False) == 0).sum()) == 0


@pytest.mark.covers("polynomial-penalty-example")
def test_a_penalty_on_the_two_last_coefficients_leaves_a_quadratic() -> None:
    rng = generator(5)
    x = torch.linspace(-1, 1, 30, dtype=torch.float64)
    y = 1 - 2 * x + 3 * x**2 + 0.5 * x**4 + 0.1 * torch.randn(30, generator=rng, dtype=x.dtype)
    low, high = (nn.Parameter(torch.zeros(size, dtype=x.dtype)) for size in (3, 2))
    powers = torch.stack([x**k for k in range(5)], dim=1)
    penalty = Penalty(parameters=[high], l2=1e6)
    optimizer = torch.optim.LBFGS([low, high], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        loss = (powers @ torch.cat([low, high]) - y).square().mean() + penalty()
        torch.autograd.backward(loss)
        return float(loss.detach())

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    quadratic = torch.linalg.lstsq(powers[:, :3], y[:, None]).solution[:, 0]
    assert high.abs().max() < 1e-4
    torch.testing.assert_close(low.detach(), quadratic, rtol=0, atol=1e-3)


def test_the_square_of_a_complex_weight_is_that_of_its_length() -> None:
    weight = torch.tensor([3 + 4j, 1j])
    assert Penalty(parameters=[weight], l2=1.0)() == (25 + 1) / 2
    assert Penalty(parameters=[weight], l1=1.0)() == 5 + 1
