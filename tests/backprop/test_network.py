"""A dense network by hand: differences, autograd, textbook forms of the recursion, and depth."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop import network as network_file
from netwright.backprop.activation_slopes import WORKED, activation_backward
from netwright.backprop.dense import DenseGradients, DenseKept, dense_backward
from netwright.backprop.network import (
    Layer,
    NetworkGradients,
    network_backward,
    network_forward,
)
from netwright.core.errors import ConfigError
from netwright.layers.activations import build_activation
from tests.backprop.references import (
    UNITS,
    assert_equal,
    autograd_gradients,
    differences,
    numbers,
)
from tests.repetition import for_each

WIDTH = 3  # the same in all layers, so that also a wrong recursion fits


def net(*activations: str) -> list[Layer]:
    return [
        Layer(numbers(WIDTH, WIDTH, seed=place), numbers(WIDTH, seed=10 + place), name)
        for place, name in enumerate(activations)
    ]


SIGMOIDS = net("sigmoid", "sigmoid", "sigmoid")
MIXED = net("tanh", "relu", "gelu", "elu", "identity")
X, Y = numbers(4, WIDTH, seed=20), numbers(4, WIDTH, seed=21).softmax(dim=1)


def squared_error(x: Tensor, layers: Sequence[Layer]) -> Tensor:
    """R = 1/2 |x_L - y|^2, whose p_L is x_L - y."""
    return (network_forward(x, layers)[0] - Y).square().sum() / 2


def gradients(layers: Sequence[Layer], x: Tensor = X) -> NetworkGradients:
    output, kept = network_forward(x, layers)
    return network_backward(kept, output - Y)


def torch_loss(x: Tensor, *parts: Tensor, names: Sequence[str]) -> Tensor:
    """The same in torch's own functions: weights and biases in turn."""
    for weight, bias, name in zip(parts[::2], parts[1::2], names, strict=True):
        x = build_activation(name)(F.linear(x, weight, bias))
    return (x - Y.to(x)).square().sum() / 2


def autograd_of(layers: Sequence[Layer], x: Tensor) -> tuple[Tensor, ...]:
    """The gradients by the input, then by weights and biases in turn."""
    parts = [part for layer in layers for part in layer[:2]]
    names = [layer.activation for layer in layers]
    return autograd_gradients(partial(torch_loss, names=names), [x, *parts])


def in_turn(found: NetworkGradients) -> list[Tensor]:
    """By the input, then by weights and biases in turn."""
    parts = [part for layer in found.layers for part in (layer.weight, layer.bias)]
    return [found.co_states[0], *parts]


def loss_with(place: int, part: str, value: Tensor) -> Tensor:
    """The loss of the sigmoids where one weight matrix or bias is another."""
    changed: Any = {part: value}
    layer = SIGMOIDS[place]._replace(**changed)
    return squared_error(X, [*SIGMOIDS[:place], layer, *SIGMOIDS[place + 1 :]])


@pytest.mark.covers("backprop-nielsen")
def test_gradients_are_differences_of_the_loss() -> None:
    for place, (layer, found) in enumerate(zip(SIGMOIDS, gradients(SIGMOIDS).layers, strict=True)):
        for part in ("weight", "bias"):
            slopes = differences(partial(loss_with, place, part), getattr(layer, part))
            assert (getattr(found, part) - slopes).norm() < 1e-6 * slopes.norm()


@pytest.mark.covers("backprop-adjoint")
def test_co_states_are_the_other_form_of_the_four_equations() -> None:
    found = gradients(SIGMOIDS)
    assert_equal(found.co_states[0], differences(lambda x: squared_error(x, SIGMOIDS), X), 1e-8)
    # The four equations: delta^L, delta^l from delta^{l+1}, dC/db = delta, dC/dW = delta a^T.
    a = network_forward(X, SIGMOIDS)[1].activations
    delta = (a[-1] - Y) * a[-1] * (1 - a[-1])
    for before, layer, ours in reversed(list(zip(a[:-1], SIGMOIDS, found.layers, strict=True))):
        assert_equal(ours.bias, delta.sum(dim=0))
        assert_equal(ours.weight, torch.einsum("ij,ik->jk", delta, before))
        delta = torch.einsum("kj,ik->ij", layer.weight, delta) * before * (1 - before)


@pytest.mark.covers("backprop-algorithm")
def test_without_the_line_of_the_co_states_only_the_last_layer_is_right() -> None:
    output, kept = network_forward(X, MIXED)
    by_weight = autograd_of(MIXED, X)[1::2]
    stuck = [
        dense_backward(layer.dense, activation_backward(layer.activation, output - Y)).weight
        for layer in kept.layers
    ]
    assert_equal(stuck[-1], by_weight[-1])
    for wrong, right in zip(stuck[:-1], by_weight[:-1], strict=True):
        assert (wrong - right).norm() > 0.1 * right.norm()
    for found, right in zip(gradients(MIXED).layers, by_weight, strict=True):
        assert_equal(found.weight, right)


@pytest.mark.covers("backprop-delta-jensen")
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_backward_pass_takes_one_jacobian_product_a_layer(
    depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    def counted(kept: DenseKept, delta: Tensor) -> DenseGradients:
        taken.append(delta)
        return dense_backward(kept, delta)

    monkeypatch.setattr(network_file, "dense_backward", counted)
    found = gradients(MIXED[:depth])
    assert len(taken) == depth
    for ours, theirs in zip(in_turn(found), autograd_of(MIXED[:depth], X), strict=True):
        assert_equal(ours, theirs)


@for_each("name", UNITS)
def test_any_output_unit_ends_a_network(name: str) -> None:
    unit, layers = UNITS[name], net("tanh", "identity")

    def loss(x: Tensor) -> Tensor:
        return unit.loss(network_forward(x, layers)[0], Y).sum()

    o, kept = network_forward(X, layers)
    found = network_backward(kept, unit.delta(unit.output(o), Y))
    (expected,) = autograd_gradients(loss, [X])
    assert_equal(found.co_states[0], expected)


@pytest.mark.covers("frameworks")
def test_gradients_are_those_of_torch_in_the_precision_of_training() -> None:
    layers = [Layer(weight.float(), bias.float(), name) for weight, bias, name in MIXED]
    output, kept = network_forward(X.float(), layers)
    found = network_backward(kept, output - Y.float())
    for ours, theirs in zip(in_turn(found), autograd_of(layers, X.float()), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_the_forward_pass_keeps_one_activation_more_than_layers() -> None:
    output, kept = network_forward(X, MIXED)
    assert len(kept.activations) == len(MIXED) + 1
    assert kept.activations[0] is X
    assert kept.activations[-1] is output
    for layer, (before, after) in zip(MIXED, pairwise(kept.activations), strict=True):
        assert torch.equal(network_forward(before, [layer])[0], after)


@pytest.mark.covers("chain-rule-multivariate")
def test_derivatives_of_a_composition_sum_over_all_paths() -> None:
    inner, outer = MIXED[:2], MIXED[2:]  # y = f(u(x))
    x = X[:1]
    u, kept_inner = network_forward(x, inner)
    y, kept_outer = network_forward(u, outer)
    by_u = network_backward(kept_outer, torch.ones_like(y)).co_states[0]
    rows = [  # du_k/dx
        autograd_gradients(lambda x: network_forward(x, inner)[0], [x], unit[None])[0][0]
        for unit in torch.eye(WIDTH).double()
    ]
    paths = by_u.view(WIDTH, 1) * torch.stack(rows)  # dy/du_k du_k/dx_i
    (expected,) = autograd_gradients(lambda x: network_forward(x, MIXED)[0].sum(), [x])
    assert_equal(paths.sum(dim=0), expected[0])
    assert_equal(network_backward(kept_inner, by_u).co_states[0], expected)


@pytest.mark.covers("pontryagin-view")
def test_the_lagrangian_is_stationary_at_the_co_states() -> None:
    states = network_forward(X, MIXED)[1].activations
    found = gradients(MIXED)

    def lagrangian(*free: Tensor) -> Tensor:
        """R(x_L) + sum_l <p_l, g_l(x_{l-1}) - x_l>, with all states x_1 .. x_L free."""
        total = (free[-1] - Y).square().sum() / 2
        steps = zip(MIXED, pairwise((X, *free)), found.co_states[1:], strict=True)
        for layer, (before, after), co_state in steps:
            total = total + (co_state * (network_forward(before, [layer])[0] - after)).sum()
        return total

    for slope in autograd_gradients(lagrangian, states[1:]):
        assert_equal(slope, torch.zeros_like(slope))


@pytest.mark.covers("dynamic-graph")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_graph_of_a_pass_is_the_branch_that_the_data_took(sign: float) -> None:
    def branch(x: Tensor) -> list[Layer]:
        return SIGMOIDS if x.sum() > 0 else MIXED

    x = sign * X.abs()
    (expected,) = autograd_gradients(lambda x: squared_error(x, branch(x)), [x])
    ours = {len(layers): gradients(layers, x).co_states[0] for layers in (SIGMOIDS, MIXED)}
    assert_equal(ours[len(branch(x))], expected)
    assert_equal(expected, differences(lambda x: squared_error(x, branch(x)), x), 1e-7)
    assert (ours[len(SIGMOIDS)] - ours[len(MIXED)]).norm() > 0.1


@pytest.mark.covers("step-gradient-problem")
def test_no_gradient_passes_a_hard_threshold() -> None:
    layers = net("step", "identity")
    found = gradients(layers)
    assert not found.layers[0].weight.any()
    assert not found.layers[0].bias.any()
    assert found.layers[1].weight.any()

    def with_sign(weight: Tensor) -> Tensor:
        hidden = (1 + torch.sign(F.linear(X, weight, layers[0].bias))) / 2
        return squared_error(hidden, layers[1:])

    assert with_sign(layers[0].weight) == squared_error(X, layers)
    assert not autograd_gradients(with_sign, [layers[0].weight])[0].any()


def deep(depth: int, width: int, std: float, activation: str) -> list[Layer]:
    weights = std * numbers(depth, width, width, seed=30)
    return [Layer(weight, torch.zeros(width).double(), activation) for weight in weights]


def shrinking(layers: Sequence[Layer]) -> float:
    """|p_0| / |p_L|: how the gradient has changed on its way back."""
    x = numbers(8, layers[0].weight.shape[1], seed=31)
    output, kept = network_forward(x, layers)
    states = network_backward(kept, numbers(*output.shape, seed=32)).co_states
    return float(states[0].norm() / states[-1].norm())


@pytest.mark.covers("exploding-gradient")
@pytest.mark.parametrize(("activation", "gain"), [("identity", 1.0), ("relu", 2**0.5)])
def test_weights_twice_too_large_double_the_gradient_at_each_layer(
    activation: str, gain: float
) -> None:
    depth, width = 12, 100
    layers = deep(depth, width, 2 * gain / width**0.5, activation)  # twice He's
    assert shrinking(layers) == pytest.approx(2**depth, rel=0.5)
    output, kept = network_forward(numbers(8, width, seed=31), layers)
    weights = [torch.nn.Parameter(layer.weight) for layer in layers]
    for weight, found in zip(weights, network_backward(kept, output).layers, strict=True):
        weight.grad = found.weight
    assert torch.nn.utils.clip_grad_norm_(weights, 1.0) > 1000
    clipped = [weight.grad.norm() for weight in weights if weight.grad is not None]
    assert float(torch.stack(clipped).norm()) == pytest.approx(1)  # a step is as long as its rate


@pytest.mark.covers("dominant-eigenvalue-argument")
def test_fifty_layers_multiply_their_gain_which_is_the_radius_and_not_the_norm() -> None:
    depth, width = 50, 200
    layers = deep(depth, width, width**-0.5, "identity")
    weight = layers[0].weight
    assert float(torch.linalg.eigvals(weight).abs().max()) == pytest.approx(1, abs=0.05)
    assert float(torch.linalg.matrix_norm(weight, 2)) == pytest.approx(1.98, abs=0.05)
    at_one = shrinking(layers)
    assert 0.5 < at_one < 2
    for gain in (0.9, 1.1):
        scaled = shrinking([layer._replace(weight=gain * layer.weight) for layer in layers])
        assert scaled / at_one == pytest.approx(gain**depth)


def test_every_worked_activation_can_be_a_layer() -> None:
    for name in WORKED:
        assert gradients(net(name, "identity")).co_states[0].shape == X.shape


def test_a_network_without_layers_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^a network must have a layer, got none$"):
        network_forward(X, [])
