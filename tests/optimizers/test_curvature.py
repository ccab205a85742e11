"""Curvature: the Hessian and Gauss-Newton's matrix are those of torch.func and of hand-work."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.layers.recurrence.scan import scan, scan_by_steps
from netwright.optimizers.curvature import (
    ROWS_AT_ONCE,
    GaussNewton,
    flatten,
    gradient_of,
    hessian_of,
    hessian_products,
    takes_directions_at_once,
    unflatten,
)
from tests.written_copy import written_copy


def small_net() -> tuple[nn.Module, list[Tensor], Tensor, Tensor]:
    """A net of 23 weights in float64, with inputs and classes."""
    with seeded(0):
        net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh()).double()
        net[2].bias.requires_grad_(False)
        return net, [w for w in net.parameters() if w.requires_grad], *batch()


def batch() -> tuple[Tensor, Tensor]:
    inputs = torch.randn(7, 2, dtype=torch.float64)
    return inputs, (inputs[:, 0] > 0).long()


def matrix(product: GaussNewton, size: int) -> Tensor:
    return torch.stack([product(unit) for unit in torch.eye(size, dtype=torch.float64)])


@pytest.mark.covers("hessian")
def test_hessian_of_a_quadratic_form_is_a_plus_its_transpose() -> None:
    with seeded(1):
        a, v = torch.randn(5, 5, dtype=torch.float64), torch.randn(2, 5, dtype=torch.float64)
    x = torch.ones(5, dtype=torch.float64, requires_grad=True)
    gradient = gradient_of(x @ a @ x, [x], create_graph=True)
    wanted = a + a.T
    torch.testing.assert_close(hessian_of(gradient, [x]), wanted)
    torch.testing.assert_close(hessian_products(gradient, [x], v), v @ wanted)
    assert not gradient_of(x @ a @ x, [x]).requires_grad  # unless it is to be taken further


def test_hessian_of_a_net_is_that_of_torch_func() -> None:
    net, weights, inputs, classes = small_net()
    names = [name for name, w in net.named_parameters() if w.requires_grad]

    def loss(vector: Tensor) -> Tensor:
        given = dict(zip(names, unflatten(vector, weights), strict=True))
        return F.cross_entropy(torch.func.functional_call(net, given, (inputs,)), classes)

    at = flatten(weights).detach()
    gradient = gradient_of(loss(flatten(weights)), weights, create_graph=True)
    torch.testing.assert_close(gradient, torch.func.grad(loss)(at))
    torch.testing.assert_close(
        hessian_of(gradient, weights), torch.func.jacrev(torch.func.grad(loss))(at)
    )


def test_a_hessian_of_more_rows_than_are_taken_at_once_is_whole() -> None:
    size = 2 * ROWS_AT_ONCE + 3
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    gradient = gradient_of((x**3).sum(), [x], create_graph=True)
    wanted = 6 * torch.eye(size, dtype=torch.float64)
    torch.testing.assert_close(hessian_of(gradient, [x]), wanted)


def test_gauss_newton_is_jacobian_curvature_jacobian() -> None:
    net, weights, inputs, classes = small_net()
    outputs = net(inputs)
    loss = F.cross_entropy(outputs, classes)
    rows = [gradient_of(value, weights) for value in outputs.flatten()]
    jacobian = torch.stack(rows)  # (14, P)

    def outer(z: Tensor) -> Tensor:
        return F.cross_entropy(z.view_as(outputs), classes)

    curvature = torch.func.jacrev(torch.func.grad(outer))(outputs.detach().flatten())
    ours = matrix(GaussNewton(loss, (outputs,), weights), jacobian.shape[1])
    torch.testing.assert_close(ours, jacobian.T @ curvature @ jacobian)
    assert torch.linalg.eigvalsh(ours).min() > -1e-12


def test_gauss_newton_is_the_hessian_where_outputs_are_linear_in_the_weights() -> None:
    inputs, classes = batch()
    layer = nn.Linear(2, 2, dtype=torch.float64)
    weights: list[Tensor] = list(layer.parameters())
    outputs = layer(inputs)
    loss = F.cross_entropy(outputs, classes)
    exact = hessian_of(gradient_of(loss, weights, create_graph=True), weights)
    ours = matrix(GaussNewton(loss, (outputs,), weights), 6)
    torch.testing.assert_close(ours, exact)


def test_heads_add_up() -> None:
    inputs, classes = batch()
    layer = nn.Linear(2, 2, dtype=torch.float64)
    weights: list[Tensor] = list(layer.parameters())
    main, other = layer(inputs), layer(2 * inputs)
    loss = F.cross_entropy(main, classes) + 0.3 * F.cross_entropy(other, classes)
    exact = hessian_of(gradient_of(loss, weights, create_graph=True), weights)
    ours = matrix(GaussNewton(loss, (main, other), weights), 6)
    torch.testing.assert_close(ours, exact)


def test_a_linear_loss_and_unused_weights_have_no_curvature() -> None:
    used, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    weights = [used, unused]
    straight = gradient_of(used.sum(), weights, create_graph=True)
    assert straight.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert not hessian_of(straight, weights).any()
    assert not GaussNewton(used.sum(), (used,), weights)(torch.ones(5)).any()
    bent = gradient_of(used.square().sum(), weights, create_graph=True)
    assert torch.equal(hessian_of(bent, weights), torch.diag(torch.tensor([2.0, 2, 0, 0, 0])))


def test_unflatten_undoes_flatten() -> None:
    parts = [torch.arange(6.0).reshape(2, 3), torch.tensor(7.0), torch.arange(2.0)]
    again = unflatten(flatten(parts), parts)
    assert all(torch.equal(one, other) for one, other in zip(again, parts, strict=True))


def written(a: Tensor, b: Tensor) -> Tensor:
    """A scan whose backward pass takes one direction at a time."""
    return written_copy(scan_by_steps(a, b))


def test_a_layer_with_a_backward_pass_of_its_own_has_the_same_curvature() -> None:
    with seeded(3):
        a = torch.rand(1, 20, 2, dtype=torch.float64, requires_grad=True)
        b = torch.randn(1, 20, 2, dtype=torch.float64)
    found = [
        hessian_of(gradient_of(by(a, b).square().sum(), [a], create_graph=True), [a])
        for by in (scan_by_steps, scan, written)
    ]
    torch.testing.assert_close(found[1:], found[:1] * 2)


@pytest.mark.parametrize(("by", "at_once"), [(scan, True), (scan_by_steps, True), (written, False)])
def test_whether_directions_are_taken_at_once(by: Callable[..., Tensor], at_once: bool) -> None:
    a = torch.full((1, 3, 2), 0.5, requires_grad=True)
    gradient = gradient_of(by(a, torch.ones(1, 3, 2)).square().sum(), [a], create_graph=True)
    assert takes_directions_at_once(gradient, [a]) == at_once
    assert takes_directions_at_once(torch.zeros(6), [a])  # of a loss that is linear
