"""Residual layers: the identity at rest, the Jacobian, projections, and what decay leaves."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.layers.residual import Residual, divide_branches, value_at_zero
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def layer(name: str, before: int, after: int, seed: int = 0) -> Residual:
    """phi(W x + b) around a skip, in double precision."""
    with seeded(seed):
        activation = build_activation(name)
        body = nn.Sequential(nn.Linear(before, after), activation)
        return Residual(body, before, after, rest=value_at_zero(activation)).double()


def inputs(rows: int, columns: int) -> Tensor:
    numbers = torch.Generator().manual_seed(7)
    return torch.randn(rows, columns, generator=numbers, dtype=torch.float64)


@for_each(("name", "rest"), [("sigmoid", 0.5), ("tanh", 0.0), ("relu", 0.0), ("identity", 0.0)])
def test_rest_is_the_activation_at_zero(name: str, rest: float) -> None:
    assert value_at_zero(build_activation(name)) == rest


def test_by_hand() -> None:
    # x = (1, -2), W = ((1, 1), (0, -1)), b = (0, 1): relu(-1, 3) = (0, 3), and x comes on top.
    residual = layer("relu", 2, 2)
    linear = residual.body.get_submodule("0")
    linear.load_state_dict(
        {"weight": torch.tensor([[1.0, 1.0], [0.0, -1.0]]), "bias": torch.tensor([0.0, 1.0])}
    )
    assert residual(torch.tensor([[1.0, -2.0]]).double()).tolist() == [[1.0, 1.0]]


@pytest.mark.covers("residual-layer")
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu"])
def test_is_the_identity_at_zero_weights_and_its_jacobian_is_known(name: str) -> None:
    residual, x = layer(name, 3, 3), inputs(4, 3)
    linear = residual.body.get_submodule("0")
    assert isinstance(linear, nn.Linear)
    for row in x:
        jacobian = torch.func.jacrev(residual)(row)
        z = (linear.weight @ row + linear.bias).detach().requires_grad_()
        (slope,) = torch.autograd.grad(build_activation(name)(z).sum(), z)
        expected = torch.eye(3, dtype=torch.float64) + slope[:, None] * linear.weight
        torch.testing.assert_close(jacobian, expected.detach(), rtol=0, atol=1e-12)
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    assert torch.equal(residual(x), x)


@for_each("name", ACTIVATIONS)
def test_every_activation_is_at_rest_at_zero_weights(name: str) -> None:
    for number in (torch.float32, torch.float64):
        residual, x = layer(name, 3, 3).to(number), inputs(4, 3).to(number)
        for parameter in residual.parameters():
            nn.init.zeros_(parameter)
        assert torch.equal(residual(x), x)


@pytest.mark.covers("residual-projection")
@pytest.mark.parametrize(("before", "after"), [(4, 2), (2, 5)])
def test_projection_changes_the_width(before: int, after: int) -> None:
    residual, x = layer("sigmoid", before, after), inputs(3, before)
    assert residual(x).shape == (3, after)
    names = [name for name, _ in residual.named_parameters()]
    assert sorted(names) == ["body.0.bias", "body.0.weight", "skip.weight"]
    values = [parameter.detach().requires_grad_() for parameter in residual.parameters()]

    def outputs(*values: Tensor) -> Tensor:
        parts = dict(zip(names, values, strict=True))
        out: Tensor = torch.func.functional_call(residual, parts, (x,))
        return out

    assert torch.autograd.gradcheck(outputs, tuple(values))


def test_projection_alone_is_left_at_zero_weights() -> None:
    residual, x = layer("sigmoid", 3, 2), inputs(4, 3)
    for parameter in residual.body.parameters():
        nn.init.zeros_(parameter)
    projection = residual.skip.get_parameter("weight")
    torch.testing.assert_close(residual(x), x @ projection.T, rtol=0, atol=1e-12)


def test_equal_widths_have_nothing_to_learn_in_the_skip() -> None:
    assert not list(layer("relu", 3, 3).skip.parameters())


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
@for_each(("name", "after"), [("sigmoid", 3), ("tanh", 2)])
def test_keeps_the_layer_contract(name: str, after: int, check: Callable[[Build], None]) -> None:
    check(lambda: (layer(name, 3, after).float(), torch.randn(4, 3)))


@pytest.mark.covers("near-identity-init")
def test_fifty_layers_near_the_identity_still_know_their_input() -> None:
    depth, width = 50, 64
    net = nn.Sequential(*(layer("tanh", width, width, seed) for seed in range(depth)))
    plain = nn.Sequential(*(part.body for part in net if isinstance(part, Residual)))
    x = inputs(20, width)

    def correlation(out: Tensor) -> float:
        return float(torch.corrcoef(torch.stack((x.flatten(), out.detach().flatten())))[0, 1])

    assert abs(correlation(plain(x))) < 0.2
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.div_(depth)
    assert correlation(net(x)) > 0.9


@pytest.mark.covers("residual-weight-decay-identity")
def test_decay_alone_makes_a_residual_net_the_identity_and_a_plain_net_zero() -> None:
    net = nn.Sequential(*(layer("tanh", 4, 4, seed) for seed in range(5)))
    plain = nn.Sequential(*(part.body for part in net if isinstance(part, Residual)))
    x = inputs(6, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1.0)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    assert (net(x) - x).norm() > 0.1 * x.norm()
    for _ in range(100):  # 0.9^100 = 3e-5
        optimizer.step()
    assert (net(x) - x).norm() < 1e-3 * x.norm()
    assert plain(x).norm() < 1e-3 * x.norm()


def test_branches_are_divided_by_their_number_and_projections_are_not() -> None:
    net = nn.Sequential(layer("tanh", 2, 3), layer("tanh", 3, 3), nn.Linear(3, 1))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    divide_branches(net)
    for name, value in net.state_dict().items():
        parts = 2 if ".body." in name else 1
        torch.testing.assert_close(value, before[name] / parts, rtol=0, atol=0)
    assert any(".skip." in name for name in before)


def test_a_model_without_branches_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^near-identity needs residual layers \(residual=true"):
        divide_branches(nn.Linear(2, 2))
