"""Second derivatives: matrices by hand, models as functions of one vector, the ends of spectra."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from netwright.backprop.second_order import (
    CriticalPoint,
    GradientStep,
    Kind,
    classify,
    critical_point,
    hessian,
    hessian_product,
    jacobian,
    lanczos,
    loss_of_weights,
    random_start,
    twice_differentiable,
    whole_spectrum,
)
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.optimizers.curvature import flatten
from tests.backprop.references import assert_equal, differences, numbers
from tests.repetition import for_each


@pytest.mark.covers("jacobian")
def test_the_jacobian_of_three_numbers_to_two_has_two_rows() -> None:
    def function(x: Tensor) -> Tensor:
        return torch.stack((x[0] * x[1].sin(), x[2] ** 2 + x[0]))

    x = numbers(3)
    found = jacobian(function, x)
    assert found.shape == (2, 3)
    by_hand = torch.tensor([[x[1].sin(), x[0] * x[1].cos(), 0], [1, 0, 2 * x[2]]])
    assert_equal(found, by_hand.double(), 1e-7)
    for row in range(2):
        assert_equal(found[row], differences(lambda place: function(place)[row], x), 1e-8)  # noqa: B023


def test_the_hessian_of_a_quadratic_form_and_its_products() -> None:
    a, x, v = numbers(5, 5), numbers(5, seed=1), numbers(5, seed=2)

    def form(place: Tensor) -> Tensor:
        return place @ a @ place

    assert_equal(hessian(form, x), a + a.T)
    gradient, product = hessian_product(form, x)
    assert_equal(gradient, (a + a.T) @ x)
    assert_equal(product(v), (a + a.T) @ v)


class Cube(torch.autograd.Function):
    """x^3, with a backward pass of its own and no forward derivative."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        slope: Tensor = 3 * x**2
        return grads[0] * slope


def test_a_layer_with_a_backward_pass_of_its_own_has_a_hessian() -> None:
    def function(x: Tensor) -> Tensor:
        cubes: Tensor = Cube.apply(x)  # type: ignore[no-untyped-call]
        return cubes.sum()

    x = numbers(3)
    assert_equal(hessian(function, x), (6 * x).diag())


@pytest.mark.covers("curvature-second-derivative")
def test_a_step_on_a_quadratic_is_foretold_exactly() -> None:
    root, centre, x = numbers(4, 4), numbers(4, seed=1), numbers(4, seed=2)

    def bowl(place: Tensor) -> Tensor:
        return (root @ (place - centre)).square().sum()

    gradient, product = hessian_product(bowl, x)
    step = GradientStep(
        loss=float(bowl(x)),
        slope=float(gradient @ gradient),
        curvature=float(gradient @ product(gradient)),
    )
    for lr in (0.01, step.best_lr, 0.5):
        assert step.predicted(lr) == pytest.approx(float(bowl(x - lr * gradient)), rel=1e-12)
    assert step.best_lr == pytest.approx(
        float(gradient @ gradient / (gradient @ product(gradient)))
    )
    beside = [float(bowl(x - factor * step.best_lr * gradient)) for factor in (0.99, 1.0, 1.01)]
    assert beside[1] == min(beside)


def test_a_way_that_does_not_curve_up_has_no_best_step() -> None:
    assert GradientStep(loss=1.0, slope=2.0, curvature=-1.0).best_lr == math.inf


@for_each(
    ("curvatures", "kind", "index"),
    [
        ((1.0, 2.0), "minimum", 0),
        ((-1.0, -2.0), "maximum", 2),
        ((-1.0, 2.0, 3.0), "saddle", 1),
        ((-1.0, 0.0, 3.0), "saddle", 1),
        ((0.0, 2.0), "undecided", 0),
        ((-2.0, 0.0), "undecided", 1),
        ((0.0,), "undecided", 0),
    ],
)
def test_signs_of_curvatures_tell_the_kind_and_the_index(
    curvatures: tuple[float, ...], kind: Kind, index: int
) -> None:
    assert classify(torch.tensor(curvatures), 0.0) == CriticalPoint(kind, index)


def test_what_counts_as_none_can_be_set_and_a_slope_is_refused() -> None:
    assert classify(torch.tensor([1e-6, 1.0]), 1e-6, flat=1e-5).kind == "undecided"
    with pytest.raises(ConfigError) as refusal:
        classify(torch.ones(2), 1.0)
    assert str(refusal.value) == "a critical point has gradient 0, got a norm of 1"
    with pytest.raises(ConfigError, match=r"got a norm of nan$"):
        classify(torch.ones(2), math.nan)
    with pytest.raises(ConfigError) as refusal:
        classify(torch.ones(0), 0.0)
    assert str(refusal.value) == (
        "a critical point needs at least one curvature to be classified, got none"
    )


def test_a_minimum_that_was_nearly_reached_is_one_for_a_higher_limit() -> None:
    near = torch.full((2,), 1e-6, dtype=torch.float64)
    assert critical_point(lambda x: x @ x, near, flat=1e-5) == CriticalPoint("minimum", 0)
    with pytest.raises(ConfigError, match=r"^a critical point has gradient 0, got a norm"):
        critical_point(lambda x: x @ x, near)


def test_a_models_loss_is_a_function_of_what_it_learns() -> None:
    with seeded(0):
        net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    net[0].bias.requires_grad_(False)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    x, classes = numbers(6, 2), torch.arange(6) % 2
    function, place = loss_of_weights(net, x, lambda logits: F.cross_entropy(logits, classes))
    learned = [part for part in net.parameters() if part.requires_grad]
    assert torch.equal(place, flatten(learned).detach())
    assert len(place) == 6 + 6 + 2
    loss = F.cross_entropy(net(x), classes)
    assert_equal(function(place), loss.detach())
    gradient, product = hessian_product(function, place)
    assert_equal(gradient, flatten(torch.autograd.grad(loss, learned)))
    v = numbers(len(place))
    assert_equal(product(v), hessian(function, place) @ v)
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert not net[0].bias.requires_grad


def test_the_running_statistics_of_a_model_in_training_stay() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).double()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    function, place = loss_of_weights(net, numbers(6, 2), lambda y: (y**3).sum())
    value = function(place)
    hessian_product(function, place)[1](torch.ones_like(place))
    assert all(torch.equal(before[name], part) for name, part in net.state_dict().items())
    assert_equal(value, (net(numbers(6, 2)) ** 3).sum().detach())


@pytest.mark.parametrize("kind", ["lstm", "attention"])
def test_fused_layers_have_second_derivatives_within_and_their_kernels_after(kind: str) -> None:
    with seeded(0):
        layer = nn.LSTM(2, 3, batch_first=True) if kind == "lstm" else MultiHeadAttention(4, 2)
    x = numbers(2, 4, 2 if kind == "lstm" else 4).float()
    had = torch.backends.mkldnn.enabled, torch.backends.cudnn.enabled

    def loss(output: Tensor | tuple[Tensor, Tensor]) -> Tensor:
        return (output[0] if isinstance(output, tuple) else output).square().sum()

    with twice_differentiable():
        function, place = loss_of_weights(layer, x, loss)
        gradient, product = hessian_product(function, place)
        v = random_start(place)
        step = 1e-2 * v / v.norm()
        aside = [torch.func.grad(function)(place + sign * step) for sign in (1, -1)]
        assert gradient.norm() > 0
        torch.testing.assert_close(product(step), (aside[0] - aside[1]) / 2, rtol=0.02, atol=1e-4)
    assert (torch.backends.mkldnn.enabled, torch.backends.cudnn.enabled) == had


def symmetric(values: Tensor) -> Tensor:
    """A matrix of these eigenvalues in random directions."""
    basis, _ = torch.linalg.qr(numbers(len(values), len(values)))
    matrix: Tensor = basis @ values.diag() @ basis.T
    return matrix


def test_as_many_products_as_there_are_directions_give_all_eigenvalues() -> None:
    values = torch.linspace(-2, 5, 12, dtype=torch.float64)
    matrix = symmetric(values)
    found = lanczos(lambda v: matrix @ v, numbers(12, seed=1), 100)
    assert_equal(found.values, values, 1e-9)
    assert float(found.shares.sum()) == pytest.approx(1.0)


def test_few_products_find_the_ends_and_never_go_beyond() -> None:
    bulk = torch.linspace(-0.5, 0.5, 298, dtype=torch.float64)
    values = torch.cat((torch.tensor([-3.0]).double(), bulk, torch.tensor([9.0]).double()))
    matrix = symmetric(values)
    found = lanczos(lambda v: matrix @ v, random_start(values), 15)
    assert len(found.values) == 15
    assert found.values[0].item() == pytest.approx(-3.0, abs=1e-6)
    assert found.values[-1].item() == pytest.approx(9.0, abs=1e-6)
    assert -3 - 1e-9 <= found.values[0] and found.values[-1] <= 9 + 1e-9
    inside = (found.values.abs() <= 0.5 + 1e-9) * found.shares
    assert inside.sum().item() == pytest.approx(298 / 300, abs=0.02)


def test_a_start_within_few_directions_ends_early() -> None:
    matrix = torch.diag(torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64))
    start = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=torch.float64)
    found = lanczos(lambda v: matrix @ v, start, 4)
    assert found.values.tolist() == pytest.approx([1.0, 3.0])
    assert lanczos(torch.zeros_like, start, 4).values.tolist() == [0.0]


def test_no_step_and_no_direction_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^steps must be positive, got 0$"):
        lanczos(torch.zeros_like, torch.ones(3), 0)
    sentence = r"^start must be a non-zero vector, got only zeros$"
    with pytest.raises(ConfigError, match=sentence):
        lanczos(torch.zeros_like, torch.zeros(3), 2)


def test_below_any_number_lie_at_least_as_many_eigenvalues_as_values() -> None:
    values = torch.linspace(-2, 5, 40, dtype=torch.float64)
    matrix = symmetric(values)
    found = lanczos(lambda v: matrix @ v, numbers(40, seed=1), 8).values
    for place in torch.linspace(-3, 6, 50).tolist():
        assert (values <= place + 1e-9).sum() >= (found < place).sum()
        assert (values >= place - 1e-9).sum() >= (found > place).sum()


def test_the_whole_spectrum_is_that_of_the_matrix() -> None:
    matrix = symmetric(torch.tensor([-1.0, 0.5, 4.0], dtype=torch.float64))
    found = whole_spectrum(lambda x: x @ matrix @ x / 2, numbers(3))
    assert found.values.tolist() == pytest.approx([-1.0, 0.5, 4.0])
    assert found.shares.tolist() == pytest.approx([1 / 3] * 3)
