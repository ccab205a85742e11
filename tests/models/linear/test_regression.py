"""Linear regression: the true weights found by steps and in closed form, and the laws of a map."""

import math
import re
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression as Reference
from sklearn.linear_model import Ridge as RidgeReference
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.data.loading.loader import BatchLoader
from netwright.data.spec import DataSpec
from netwright.models.linear.regression import (
    ClosedForm,
    LeastSquares,
    LeastSquaresConfig,
    LinearRegression,
    LinearRegressionConfig,
    Ridge,
    RidgeConfig,
)
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from tests.repetition import for_each


def spec(*shape: int, outputs: int = 1) -> DataSpec:
    return DataSpec(inputs="features", input_shape=shape, target="real", num_outputs=outputs)


def line(columns: int = 2, outputs: int = 1) -> LinearRegression:
    with seeded(0):
        return LinearRegression.build(LinearRegressionConfig(), spec(columns, outputs=outputs))


def noisy_line(rows: int = 1000, noise: float = 0.01) -> Split:
    """Y = 2 x1 - 3.4 x2 + 4.2, and a little noise."""
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 2, generator=numbers)
    y = x @ torch.tensor([[2.0], [-3.4]]) + 4.2
    return Split(inputs=x, targets=y + noise * torch.randn(rows, 1, generator=numbers))


def half_squares(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    loss: Tensor = (model(inputs) - targets).square().mean() / 2
    return loss


def descend(model: LinearRegression, data: Split, rate: float, size: int, epochs: int) -> None:
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), model, lr=rate)
    loader = BatchLoader(data, size)
    for epoch in range(epochs):
        for batch in loader.epoch(epoch):
            optimizer.zero_grad()
            torch.autograd.backward(half_squares(model, batch.inputs, batch.targets))
            optimizer.step()


def assert_true_line(model: LinearRegression, tolerance: float) -> None:
    assert model.affine.weight[0].tolist() == pytest.approx([2.0, -3.4], abs=tolerance)
    assert model.affine.bias.item() == pytest.approx(4.2, abs=tolerance)


@pytest.mark.covers("linear-regression")
def test_the_true_line_is_found_by_steps_and_in_closed_form() -> None:
    data = noisy_line()
    by_steps = line()
    descend(by_steps, data, rate=0.1, size=100, epochs=10)
    assert_true_line(by_steps, 0.01)
    closed = LeastSquares.build(LeastSquaresConfig(), spec(2))
    (step,) = closed.fit_steps(data, seed=0)
    assert_true_line(closed, 0.01)
    assert step["loss"] == pytest.approx(0.01**2, rel=0.1)


@pytest.mark.covers("linreg-minibatch-sgd")
def test_three_epochs_of_small_batches_find_the_line() -> None:
    data, model = noisy_line(), line()
    first = next(BatchLoader(data, 10).epoch(0))
    weight, bias = model.affine.weight.detach().clone(), model.affine.bias.detach().clone()
    errors = first.inputs @ weight.T + bias - first.targets  # (10, 1)
    one_step = line()
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), one_step, lr=0.03)
    torch.autograd.backward(half_squares(one_step, first.inputs, first.targets))
    optimizer.step()
    by_hand = weight - 0.03 / 10 * errors.T @ first.inputs
    torch.testing.assert_close(one_step.affine.weight.detach(), by_hand)
    torch.testing.assert_close(one_step.affine.bias.detach(), bias - 0.03 / 10 * errors.sum(0))
    descend(model, data, rate=0.03, size=10, epochs=3)
    assert_true_line(model, 0.02)


@pytest.mark.covers("affine-layer")
def test_forward_is_the_affine_map() -> None:
    model = line(4, 3).double()
    x = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weight, bias = model.affine.weight, model.affine.bias
    by_hand = torch.stack([weight @ row + bias for row in x])
    torch.testing.assert_close(model(x), by_hand, rtol=0, atol=1e-14)
    assert sum(parameter.numel() for parameter in model.parameters()) == 3 * 4 + 3
    assert torch.autograd.gradcheck(lambda x, *unused: model(x), (x.requires_grad_(), weight, bias))


@pytest.mark.covers("linear-map")
def test_without_bias_the_map_is_linear() -> None:
    model = line(4, 3).double()
    nn.init.zeros_(model.affine.bias)
    numbers = torch.Generator().manual_seed(0)
    x, y = torch.randn(2, 1, 4, dtype=torch.float64, generator=numbers)
    assert model.affine.weight.shape == (3, 4)
    assert (model.affine.weight @ x[0]).shape == model(x)[0].shape == (3,)
    torch.testing.assert_close(model(x + y), model(x) + model(y), rtol=0, atol=1e-12)
    torch.testing.assert_close(model(-7.5 * x), -7.5 * model(x), rtol=0, atol=1e-12)


@pytest.mark.covers("bias-absorption")
def test_bias_is_a_weight_of_a_constant_input() -> None:
    data = noisy_line(20)
    x, y = data.inputs.double(), data.targets.double()
    with_one = torch.cat((x, torch.ones(20, 1, dtype=torch.float64)), dim=1)
    explicit, absorbed = line(2).double(), line(3).double()
    start = torch.cat((explicit.affine.weight, explicit.affine.bias[:, None]), dim=1)
    with torch.no_grad():
        absorbed.affine.weight.copy_(start)
        absorbed.affine.bias.zero_()
    absorbed.affine.bias.requires_grad_(False)
    optimizers = [
        build_optimizer(OPTIMIZERS.load("sgd"), model, lr=0.1) for model in (explicit, absorbed)
    ]
    for _ in range(30):
        torch.testing.assert_close(explicit(x), absorbed(with_one), rtol=0, atol=1e-12)
        weight, bias = explicit.affine.weight.detach(), explicit.affine.bias.detach()
        together = torch.cat((weight, bias[:, None]), dim=1)
        torch.testing.assert_close(absorbed.affine.weight.detach(), together, rtol=0, atol=1e-12)
        for optimizer, model, inputs in zip(
            optimizers, (explicit, absorbed), (x, with_one), strict=True
        ):
            optimizer.zero_grad()
            torch.autograd.backward(half_squares(model, inputs, y))
            optimizer.step()


@pytest.mark.slow
@pytest.mark.covers("sgd")
def test_gradient_of_a_batch_is_unbiased_and_its_variance_falls_with_the_size() -> None:
    data = noisy_line(6, noise=1.0)
    model = line().double()
    x, y = data.inputs.double(), data.targets.double()

    def gradient(rows: list[int]) -> Tensor:
        loss = half_squares(model, x[rows], y[rows])
        return torch.autograd.grad(loss, model.affine.weight)[0][0]

    full = gradient(list(range(6)))
    batches = [batch.rows.tolist() for batch in BatchLoader(data, 2).epoch(0)]
    torch.testing.assert_close(
        torch.stack([gradient(rows) for rows in batches]).mean(0), full, rtol=0, atol=1e-12
    )
    spreads = []
    for size in (1, 2, 4):  # every batch that can be drawn with replacement
        grads = torch.stack([gradient(list(rows)) for rows in product(range(6), repeat=size)])
        torch.testing.assert_close(grads.mean(0), full, rtol=0, atol=1e-12)
        spreads.append((grads - full).square().sum(1).mean().item())
    assert spreads == pytest.approx([spreads[0], spreads[0] / 2, spreads[0] / 4], rel=0.05)


@pytest.mark.covers("monotonicity-of-linear")
def test_no_line_fits_the_absolute_value_and_two_relus_do() -> None:
    x = torch.linspace(-1, 1, 21, dtype=torch.float64)[:, None]
    data = Split(inputs=x, targets=x.abs())
    model = LeastSquares.build(LeastSquaresConfig(), spec(1)).double()
    (step,) = model.fit_steps(data, seed=0)
    variance = x.abs().var(correction=0).item()
    assert 1 - step["loss"] / variance == pytest.approx(0.0, abs=1e-12)
    assert torch.equal(torch.relu(x) + torch.relu(-x), x.abs())


@for_each("weighted", [False, True])
@for_each("l2", [None, 0.05])
def test_closed_form_agrees_with_scikit_learn(weighted: bool, l2: float | None) -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(30, 2, 3, generator=numbers)  # images: flattened to 6
    y = torch.randn(30, 2, generator=numbers)
    weights = torch.rand(30, generator=numbers) if weighted else None
    model: ClosedForm = (
        LeastSquares.build(LeastSquaresConfig(), spec(2, 3, outputs=2))
        if l2 is None
        else Ridge.build(RidgeConfig(l2=l2), spec(2, 3, outputs=2))
    )
    (step,) = model.fit_steps(Split(inputs=x, targets=y, weights=weights), seed=0)
    total = 30.0 if weights is None else float(weights.sum())
    reference = Reference() if l2 is None else RidgeReference(alpha=total * l2)
    flat, given = x.flatten(1).numpy(), None if weights is None else weights.numpy()
    reference.fit(flat, y.numpy(), sample_weight=given)
    np.testing.assert_allclose(model.affine.weight.detach(), reference.coef_, atol=1e-6)
    np.testing.assert_allclose(model.affine.bias.detach(), reference.intercept_, atol=1e-6)
    # The loss that is reported counts each example as the fit counted it.
    errors = ((reference.predict(flat) - y.numpy()) ** 2).mean(axis=1)
    assert step["loss"] == pytest.approx(float(np.average(errors, weights=given)), rel=1e-5)


def test_closed_form_is_where_descent_ends() -> None:
    data = noisy_line(50, noise=1.0)
    model = line()
    descend(model, data, rate=0.5, size=50, epochs=200)
    closed = LeastSquares.build(LeastSquaresConfig(), spec(2))
    list(closed.fit_steps(data, seed=0))
    torch.testing.assert_close(model.affine.weight, closed.affine.weight, rtol=0, atol=1e-5)
    torch.testing.assert_close(model.affine.bias, closed.affine.bias, rtol=0, atol=1e-5)


def test_seed_has_no_part_in_the_closed_form() -> None:
    data = noisy_line(20)
    found = []
    for seed in (0, 1):
        model = LeastSquares.build(LeastSquaresConfig(), spec(2))
        list(model.fit_steps(data, seed))
        found.append(model.affine.weight)
    assert torch.equal(found[0], found[1])


def test_ridge_takes_its_penalty_from_its_config() -> None:
    assert Ridge.build(RidgeConfig(l2=0.25), spec(2)).l2 == 0.25
    assert Ridge.build(RidgeConfig(), spec(2)).l2 == 1e-3
    assert LeastSquares.build(LeastSquaresConfig(), spec(2)).l2 == 0.0


@pytest.mark.parametrize(
    ("l2", "sentence"),
    [
        (-0.1, "l2 must be at least 0.0, got -0.1"),
        (float("nan"), "l2 must be a finite number, got nan"),
    ],
)
def test_penalty_is_refused_below_zero(l2: float, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        RidgeConfig(l2=l2)


def test_least_squares_takes_its_solver_from_its_config() -> None:
    data = noisy_line(30)
    doubled = Split(inputs=data.inputs[:, [0, 0]], targets=data.targets)
    by_svd = LeastSquares.build(LeastSquaresConfig(), spec(2))
    list(by_svd.fit_steps(doubled, seed=0))
    first, second = by_svd.affine.weight[0].tolist()
    assert first == pytest.approx(second)  # of all solutions the one of least norm
    by_qr = LeastSquares.build(LeastSquaresConfig(solver="qr"), spec(2))
    with pytest.raises(DataError, match=r"^solver 'qr' needs 2 linearly independent columns"):
        list(by_qr.fit_steps(doubled, seed=0))
    with pytest.raises(ConfigError, match=r"^solver must be 'svd' or 'qr', got 'lu'$"):
        LeastSquaresConfig(solver="lu")  # type: ignore[arg-type]


@pytest.mark.covers("squared-error-loss")
def test_half_the_mean_square_has_the_mean_error_as_its_slope() -> None:
    numbers = torch.Generator().manual_seed(0)
    predicted, true = torch.randn(2, 7, 1, generator=numbers, dtype=torch.float64)
    predicted.requires_grad_()

    def loss(values: Tensor) -> Tensor:
        return half_squares(nn.Identity(), values, true)

    assert loss(predicted).item() == pytest.approx(((predicted - true) ** 2 / 2).sum().item() / 7)
    (slope,) = torch.autograd.grad(loss(predicted), predicted)
    torch.testing.assert_close(slope, (predicted - true).detach() / 7, rtol=0, atol=1e-15)
    assert torch.autograd.gradcheck(loss, (predicted,))


@pytest.mark.covers("vector-norms")
def test_norms_take_absolute_values_and_keep_the_triangle() -> None:
    numbers = torch.Generator().manual_seed(0)
    for p in (1, 2, 3):
        for _ in range(20):
            x, y = torch.randn(2, 5, generator=numbers, dtype=torch.float64)
            size = torch.linalg.vector_norm(x, ord=p).item()
            assert size == pytest.approx(np.linalg.norm(x.numpy(), ord=p))
            assert size == pytest.approx((x.abs() ** p).sum().item() ** (1 / p))
            assert torch.linalg.vector_norm(-3 * x, ord=p).item() == pytest.approx(3 * size)
            other = torch.linalg.vector_norm(y, ord=p).item()
            assert torch.linalg.vector_norm(x + y, ord=p).item() <= size + other + 1e-12
        assert torch.linalg.vector_norm(torch.zeros(5), ord=p).item() == 0
    # Without the absolute value (-1, 0) would have the cube root of -1 as its norm.
    assert torch.linalg.vector_norm(torch.tensor([-1.0, 0.0]), ord=3).item() == 1.0
    assert torch.tensor([1.0, 1.0]).norm().item() == pytest.approx(math.sqrt(2))  # not 1 + 1
