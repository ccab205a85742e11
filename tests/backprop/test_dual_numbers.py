"""Forward mode: exact slopes of every operation, and the two modes agree."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.backprop.computation_graph import Node, gradients_of
from netwright.backprop.dual_numbers import Dual, forward_derivative
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each

TWO = torch.tensor([2.0, -3.0], dtype=torch.float64)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: 3.0 + x + TWO + x,
    "subtract": lambda x: 5.0 - x - x * x - TWO,
    "multiply": lambda x: TWO * x * (2.0 * x),
    "divide": lambda x: 1.0 / x + x / (x * x + 1.0) + TWO / x + x / TWO + x / 3,
    "power": lambda x: x**3 + x**-0.5 + x**0,
    "exp": lambda x: (-x).exp(),
    "log": lambda x: x.log(),
    "sin and cos": lambda x: x.sin() * x.cos(),
    "sqrt": lambda x: x.sqrt(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: (x - 1.0).relu(),
    "sum": lambda x: (x * x).sum() * x,
}


@for_each("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_slopes_are_those_of_autograd(function: Callable[[Any], Any]) -> None:
    x, v = numbers(3, 2).abs() + 0.1, numbers(3, 2, seed=1)
    result = function(Dual(x, v))
    assert_equal(result.value, function(x))
    assert_equal(result.slope, torch.einsum("ijkl,kl->ij", torch.func.jacrev(function)(x), v))


def test_products_of_matrices_that_both_change() -> None:
    a, b, da, db = (numbers(3, 3, seed=seed) for seed in range(4))
    result = Dual(a, da) @ Dual(b, db)
    assert_equal(result.slope, da @ b + a @ db)
    assert_equal((a @ Dual(b, db) @ a).slope, a @ db @ a)


@pytest.mark.covers("forward-mode-ad")
def test_the_slope_of_e_to_the_sine_is_exact_and_both_modes_agree() -> None:
    x = torch.linspace(-3, 3, 50, dtype=torch.float64)
    slopes = forward_derivative(lambda z: z.sin().exp(), x, torch.ones_like(x))
    assert_equal(slopes, x.sin().exp() * x.cos(), 1e-15)

    first, second = numbers(4, 5, seed=1), numbers(5, 3, seed=2)

    def net(z: Any) -> Any:
        return ((z @ first).tanh() @ second).exp()

    place, v, u = numbers(1, 4, seed=3), numbers(1, 4, seed=4), numbers(1, 3, seed=5)
    start = Node(place)
    pulled = gradients_of(net(start), u)[start]  # J^T u
    pushed = forward_derivative(net, place, v)  # J v
    assert_equal((u * pushed).sum(), (pulled * v).sum(), 1e-12)
    assert_equal(pulled, autograd_gradients(net, (place,), u)[0])


def test_the_chain_rule_on_the_sine_of_a_square() -> None:
    x = numbers(20)
    found = forward_derivative(lambda z: (z**2).sin(), x, torch.ones_like(x))
    assert_equal(found, (x**2).cos() * 2 * x)


def test_dual_numbers_and_nodes_have_the_same_operations() -> None:
    def operations(kind: type) -> set[str]:
        return {
            name
            for name, part in vars(kind).items()
            if callable(part) and hasattr(Tensor, name) and not hasattr(object, name)
        }

    assert operations(Dual) == operations(Node)
    assert {"__rtruediv__", "__matmul__", "sigmoid", "sqrt"} < operations(Dual)


def test_division_by_zero_is_infinite_as_torchs() -> None:
    result = Dual(TWO, torch.ones_like(TWO)) / 0
    assert result.value.tolist() == (TWO / 0).tolist()
    assert result.slope.tolist() == [torch.inf, torch.inf]


def test_a_constant_is_broadcast_with_its_slope_of_zero() -> None:
    table = torch.ones(4, 2, dtype=torch.float64)
    result = Dual(TWO, torch.ones_like(TWO)) + table
    assert result.slope.shape == result.value.shape == (4, 2)
    assert isinstance(result.slope, Tensor)
