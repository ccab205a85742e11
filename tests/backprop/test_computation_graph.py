"""The reverse-mode engine: the fan-out of a node, no cycles, unrolled loops, nets as torch's."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.backprop.computation_graph import Edge, Node, forward_order, gradients_of
from netwright.backprop.dual_numbers import forward_derivative
from netwright.core.errors import ConfigError
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each

ROW = torch.tensor([2.0, -3.0], dtype=torch.float64)
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: 1.0 + a + b + ROW,
    "subtract": lambda a, b: 1.0 - a - b - ROW,
    "multiply": lambda a, b: 2.0 * a * b * ROW,
    "divide": lambda a, b: a / b + 1.0 / a + b / ROW,
    "power": lambda a, b: a**3 + b**-0.5 + a**0,
    "multiply matrices": lambda a, b: a @ b @ ROW.diag(),
    "a constant matrix first": lambda a, b: ROW[None] @ (a * b),
    "exp and log": lambda a, b: (-a).exp() + b.log(),
    "sin and cos": lambda a, b: a.sin() * b.cos(),
    "sqrt": lambda a, b: (a * b).sqrt(),
    "tanh and sigmoid": lambda a, b: a.tanh() * b.sigmoid(),
    "relu": lambda a, b: (a - b).relu(),
    "sum": lambda a, b: (a * b).sum() + a,
}


def number(value: float, name: str = "input") -> Node:
    return Node(torch.tensor(value, dtype=torch.float64), name)


@for_each("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_every_operation_has_the_derivative_of_autograd(
    function: Callable[[Any, Any], Any],
) -> None:
    places = [numbers(2, 2, seed=seed).abs() + 0.1 for seed in (0, 1)]
    a, b = (Node(place) for place in places)
    output = function(a, b)
    seed = numbers(*output.value.shape, seed=2)
    found = gradients_of(output, seed)
    for node, expected in zip((a, b), autograd_gradients(function, places, seed), strict=True):
        assert_equal(found[node], expected)


@for_each("shape", [(), (1,), (3, 1), (2, 1, 1)])
def test_the_gradient_of_what_was_broadcast_is_summed_back(shape: tuple[int, ...]) -> None:
    small, large = numbers(*shape), numbers(2, 3, 4, seed=1)
    a, b = Node(small), Node(large)
    found = gradients_of((a * b + a).sum())
    expected = autograd_gradients(lambda x, y: (x * y + x).sum(), (small, large))
    assert_equal(found[a], expected[0])
    assert_equal(found[b], expected[1])


@for_each(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4))],
)
def test_products_with_vectors_have_the_gradients_of_autograd(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    places = numbers(*left), numbers(*right, seed=1)
    a, b = (Node(place) for place in places)
    seed = numbers(*(a @ b).value.shape, seed=2)
    expected = autograd_gradients(torch.matmul, places, seed)
    both = gradients_of(a @ b, seed)
    assert_equal(both[a], expected[0])
    assert_equal(both[b], expected[1])
    assert_equal(gradients_of(a @ places[1], seed)[a], expected[0])
    assert_equal(gradients_of(places[0] @ b, seed)[b], expected[1])


@pytest.mark.parametrize(
    ("function", "slope"),
    [(lambda x: x**0, 0.0), (lambda x: x**1, 1.0), (lambda x: 2.0 / x, -math.inf)],
    ids=["zeroth power", "first power", "divided by"],
)
def test_slopes_at_zero_are_those_of_torch_in_both_modes(
    function: Callable[[Any], Any], slope: float
) -> None:
    zero = torch.zeros((), dtype=torch.float64)
    start = Node(zero)
    assert gradients_of(function(start))[start].item() == slope
    assert forward_derivative(function, zero, torch.ones_like(zero)).item() == slope
    assert autograd_gradients(function, [zero])[0].item() == slope


@pytest.mark.covers("computational-graph")
def test_gradients_of_all_ways_from_a_shared_node_add() -> None:
    a, b = number(3.0, "a"), number(5.0, "b")
    y = (a * b + a) ** 2
    assert [node.name for node in forward_order(y)] == ["a", "b", "*", "+", "**"]
    found = gradients_of(y)
    assert y.value.item() == 18.0**2
    assert found[a].item() == 2 * 18 * (5 + 1)  # by the product, and by itself
    assert found[b].item() == 2 * 18 * 3


def test_a_weight_that_is_used_twice_has_the_sum_of_both() -> None:
    w = number(3.0)
    assert gradients_of(w * 5.0 + w * 7.0)[w].item() == 5 + 7
    assert gradients_of(w * w)[w].item() == 6  # both operands of one operation


def mlp(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    return (((x @ w1 + b1).tanh() @ w2) ** 2).sum()


def mlp_parts() -> list[Tensor]:
    return [numbers(5, 3), numbers(3, 4, seed=1), numbers(4, seed=2), numbers(4, 2, seed=3)]


def test_a_net_has_the_gradients_of_autograd() -> None:
    parts = mlp_parts()
    nodes = [Node(part) for part in parts]
    found = gradients_of(mlp(*nodes))
    for node, expected in zip(nodes, autograd_gradients(mlp, parts), strict=True):
        assert_equal(found[node], expected)


@pytest.mark.covers("dag-requirement")
def test_nets_and_unrolled_loops_have_an_order_and_cycles_have_none() -> None:
    def is_ordered(output: Node) -> bool:
        seen: set[Node] = set()
        for node in forward_order(output):
            if any(edge.parent not in seen for edge in node.edges):
                return False
            seen.add(node)
        return output in seen

    assert is_ordered(mlp(*(Node(part) for part in mlp_parts())))

    steps, w, u = 7, Node(numbers(3, 4), "w"), Node(numbers(4, 4), "u")
    h = Node(torch.zeros(1, 4, dtype=torch.float64), "h0")
    for _ in range(steps):
        h = (numbers(1, 3) @ w + h @ u).tanh()
    assert is_ordered(h)
    names = [node.name for node in forward_order(h)]
    assert (names.count("tanh"), names.count("@")) == (steps, 2 * steps)  # a copy a step
    assert (names.count("w"), names.count("u")) == (1, 1)  # that share their weights

    a = number(1.0, "a")
    b = a * 2.0
    a.edges = (Edge(b, lambda g: g),)
    for work in (forward_order, gradients_of):
        with pytest.raises(ConfigError) as refusal:
            work(b)
        assert str(refusal.value).startswith("a computation graph must have no cycle, got ")
        assert set(str(refusal.value).split("got ")[1].split(" -> ")) == {"a", "*"}


def test_a_graph_is_made_as_the_code_runs() -> None:
    def bent(x: Any, value: Tensor) -> Any:
        return x * 2.0 if value.sum() > 0 else x**3

    for place, slope in ((4.0, 2.0), (-4.0, 48.0)):
        x = number(place)
        assert gradients_of(bent(x, x.value))[x].item() == slope


@pytest.mark.covers("reverse-mode-ad")
def test_one_pass_back_gives_what_forward_mode_needs_a_pass_each_for() -> None:
    first, second, third, last = mlp_parts()

    def loss(weights: Any) -> Any:
        return mlp(first, weights, third, last)

    start = Node(second)
    found = gradients_of(loss(start))[start]
    units = torch.eye(second.numel(), dtype=torch.float64).view(-1, *second.shape)
    slopes = torch.stack([forward_derivative(loss, second, unit) for unit in units])
    assert_equal(found.flatten(), slopes)


def test_a_chain_of_thousands_of_operations_is_no_deeper_than_memory() -> None:
    x = number(1.0)
    y = x
    for _ in range(1200):
        y = y * 1.0
    assert gradients_of(y)[x].item() == 1.0
