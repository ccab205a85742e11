"""Activations: values and slopes by hand, the identities between them, and names refused."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.special import erf
from torch import Tensor, nn

from netwright.core.errors import UnknownNameError
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each

GRID = torch.linspace(-8, 8, 401, dtype=torch.float64)


def at(name: str, *points: float) -> list[float]:
    values: Tensor = build_activation(name)(torch.tensor(points, dtype=torch.float64))
    return values.tolist()


def slopes(activation: nn.Module, points: Tensor) -> Tensor:
    points = points.clone().requires_grad_()
    (grad,) = torch.autograd.grad(activation(points).sum(), points)
    return grad


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


@for_each("name", ACTIVATIONS)
@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(name: str, check: Callable[[Build], None]) -> None:
    check(lambda: (build_activation(name), torch.randn(3, 4)))


@for_each("name", ACTIVATIONS)
def test_works_on_each_number_by_itself_and_keeps_the_shape(name: str) -> None:
    x = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    out = build_activation(name)(x)
    assert out.shape == x.shape
    one_by_one = [float(build_activation(name)(number)) for number in x.flatten()]
    assert out.flatten().tolist() == pytest.approx(one_by_one, abs=1e-6)


def test_a_row_makes_a_module_when_it_is_called() -> None:
    assert isinstance(ACTIVATIONS.load("relu")(), nn.ReLU)


def test_each_build_is_a_module_of_its_own() -> None:
    assert build_activation("relu") is not build_activation("relu")


def test_identity_gives_back_its_input() -> None:
    assert at("identity", -2.0, 0.0, 3.0) == [-2.0, 0.0, 3.0]


@pytest.mark.covers("sigmoid")
def test_sigmoid() -> None:
    sigmoid = build_activation("sigmoid")
    assert at("sigmoid", 0.0) == [0.5]
    # e^ln3 / (1 + e^ln3) = 3/4
    assert at("sigmoid", math.log(3)) == pytest.approx([0.75])
    slope = slopes(sigmoid, GRID)
    close(slope, sigmoid(GRID) * (1 - sigmoid(GRID)))
    assert slope.max().item() == slopes(sigmoid, torch.zeros(1)).item() == 0.25
    close(sigmoid(-GRID), 1 - sigmoid(GRID))
    far = torch.tensor([-1000.0, 1000.0], requires_grad=True)
    assert sigmoid(far).tolist() == [0.0, 1.0]
    assert slopes(sigmoid, far.detach()).tolist() == [0.0, 0.0]
    assert torch.autograd.gradcheck(sigmoid, (GRID[::40].clone().requires_grad_(),))


@pytest.mark.covers("tanh")
def test_tanh() -> None:
    tanh, sigmoid = build_activation("tanh"), build_activation("sigmoid")
    close(tanh(GRID), torch.from_numpy(np.tanh(GRID.numpy())), 1e-15)
    close(tanh(GRID), 2 * sigmoid(2 * GRID) - 1, 1e-15)
    close(slopes(tanh, GRID), 1 - tanh(GRID) ** 2)


@pytest.mark.covers("relu")
def test_relu() -> None:
    relu = build_activation("relu")
    assert at("relu", -2.0, 0.0, 3.0) == [0.0, 0.0, 3.0]
    assert slopes(relu, torch.tensor([-1.0, 0.0, 1.0])).tolist() == [0.0, 0.0, 1.0]
    # Unbounded: ten times the input is ten times the largest output.
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    largest = [relu(scale * x).max().item() for scale in (1, 10, 100)]
    assert largest == pytest.approx([largest[0], 10 * largest[0], 100 * largest[0]])


@pytest.mark.covers("leaky-relu")
def test_leaky_relu() -> None:
    leaky = build_activation("leaky-relu")
    assert at("leaky-relu", -1.0, 2.0) == pytest.approx([-0.01, 2.0])
    assert slopes(leaky, torch.tensor([-5.0, 5.0])).tolist() == pytest.approx([0.01, 1.0])
    no_leak = nn.LeakyReLU(0.0)
    assert isinstance(leaky, nn.LeakyReLU)
    assert torch.equal(no_leak(GRID), build_activation("relu")(GRID))


@pytest.mark.covers("softplus")
def test_softplus() -> None:
    softplus, sigmoid = build_activation("softplus"), build_activation("sigmoid")
    assert at("softplus", 0.0) == pytest.approx([math.log(2)])
    close(slopes(softplus, GRID), sigmoid(GRID))
    close(softplus(GRID) - softplus(-GRID), GRID)


@pytest.mark.covers("gelu")
def test_gelu() -> None:
    gelu = build_activation("gelu")
    assert at("gelu", 1.0) == pytest.approx([0.841345], abs=5e-7)
    z = GRID.numpy()
    normal = (1 + erf(z / math.sqrt(2))) / 2
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    close(gelu(GRID), torch.from_numpy(z * normal))
    close(slopes(gelu, GRID), torch.from_numpy(normal + z * density))
    apart = (nn.GELU("tanh")(GRID) - gelu(GRID)).abs().max().item()
    assert 4e-4 < apart < 5e-4


@pytest.mark.covers("hard-tanh")
def test_hard_tanh() -> None:
    assert at("hard-tanh", -3.0, 0.5, 3.0) == [-1.0, 0.5, 1.0]
    slope = slopes(build_activation("hard-tanh"), torch.tensor([-3.0, 0.5, 3.0]))
    assert slope.tolist() == [0.0, 1.0, 0.0]


def test_silu_is_the_input_times_its_sigmoid() -> None:
    close(build_activation("silu")(GRID), GRID * build_activation("sigmoid")(GRID))


def test_elu_is_the_exponential_below_zero() -> None:
    # e^(-ln 2) - 1 = -1/2
    assert at("elu", -math.log(2), 3.0) == pytest.approx([-0.5, 3.0])


@pytest.mark.covers("sigmoid-saturation")
def test_squared_error_of_a_sigmoid_stops_learning_where_cross_entropy_does_not() -> None:
    sigmoid = build_activation("sigmoid")
    at_ten = slopes(sigmoid, torch.tensor([10.0], dtype=torch.float64)).item()
    assert at_ten == pytest.approx(4.54e-5, rel=1e-3)
    # Wrong with great confidence: the target is 0, the logit 20. f - y = 1, up to e^-20.
    logit = torch.tensor([20.0], dtype=torch.float64, requires_grad=True)
    wrong = torch.zeros(1, dtype=torch.float64)
    entropy = nn.functional.binary_cross_entropy_with_logits(logit, wrong)
    squares = (sigmoid(logit) - wrong).square().mean()
    assert torch.autograd.grad(entropy, logit)[0].item() == pytest.approx(1.0, abs=1e-8)
    assert torch.autograd.grad(squares, logit)[0].item() < 1e-8


@for_each("name", ACTIVATIONS)
def test_its_card_explains_it_in_symbols_of_its_formula(name: str) -> None:
    card = ACTIVATIONS.load(name).card
    assert card.sentence[0].isupper()
    assert card.sentence.endswith(".")
    assert re.search(r"\((1[89]|20)\d\d\)", card.source)
    assert "$" not in card.formula
    assert card.symbols
    assert all(symbol in card.formula for symbol in card.symbols)


def test_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown activation 'rleu'; did you mean 'relu'"):
        build_activation("rleu")
