"""Polynomial regression: monomials by hand, parity with NumPy, and what the degree does."""

import re

import numpy as np
import pytest
import torch
from sklearn.preprocessing import PolynomialFeatures
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.linear.least_squares import solve_least_squares
from netwright.models.linear.polynomial import (
    PolynomialRegression,
    PolynomialRegressionConfig,
    monomials,
)
from tests.repetition import for_each


def build(inputs: int, **settings: float) -> PolynomialRegression:
    spec = DataSpec(inputs="features", input_shape=(inputs,), target="real", num_outputs=1)
    config = PolynomialRegressionConfig(**{"l2": 0.0, **settings})  # type: ignore[arg-type]
    return PolynomialRegression.build(config, spec).double()


def fitted(x: Tensor, y: Tensor, **settings: float) -> PolynomialRegression:
    model = build(x.shape[1], **settings)
    list(model.fit_steps(Split(inputs=x, targets=y), seed=0))
    return model


def cubic(rows: int, seed: int, noise: float = 1.0) -> tuple[Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    x = 4 * torch.rand(rows, 1, generator=numbers, dtype=torch.float64) - 2
    y = 2 * x**3 - 3 * x + 1
    return x, y + noise * torch.randn(rows, 1, generator=numbers, dtype=torch.float64)


def test_monomials_by_hand() -> None:
    found = monomials(torch.tensor([[2.0, 3.0]]), 3)
    assert found.tolist() == [[2, 3, 4, 6, 9, 8, 12, 18, 27]]


@for_each(("inputs", "degree"), [(1, 5), (3, 1), (3, 4), (5, 2)])
def test_monomials_are_those_of_scikit_learn(inputs: int, degree: int) -> None:
    x = torch.randn(6, inputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = PolynomialFeatures(degree, include_bias=False).fit_transform(x.numpy())
    np.testing.assert_allclose(monomials(x, degree), expected, rtol=1e-12)


def test_one_feature_is_fitted_as_numpy_fits_it() -> None:
    x, y = cubic(40, seed=0)
    x = 1_000 * x + 5_000  # powers of such numbers would drown each other without a scale
    model = fitted(x, y, degree=4)
    expected = np.polynomial.Polynomial.fit(x[:, 0].numpy(), y[:, 0].numpy(), 4)
    np.testing.assert_allclose(model(x)[:, 0].detach(), expected(x[:, 0].numpy()), atol=1e-8)


def test_scale_is_of_the_training_data_and_travels_with_the_state() -> None:
    x, y = cubic(20, seed=0)
    model = fitted(x, y, degree=2)
    scaled = (x - model.centre) / model.half_width
    assert scaled.min().item() == pytest.approx(-1)
    assert scaled.max().item() == pytest.approx(1)
    other = build(1, degree=2)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x + 3), model(x + 3))


def test_rows_of_no_weight_do_not_widen_the_scale() -> None:
    x, y = cubic(20, seed=0)
    far = torch.cat((x, torch.tensor([[1_000.0]], dtype=torch.float64)))
    weights = torch.ones(21)
    weights[-1] = 0
    model = build(1, degree=3)
    split = Split(inputs=far, targets=torch.cat((y, y[:1])), weights=weights)
    list(model.fit_steps(split, seed=0))
    alone = fitted(x, y, degree=3)
    assert torch.equal(model.centre, alone.centre)
    assert torch.equal(model.half_width, alone.half_width)
    torch.testing.assert_close(model(x), alone(x))


def test_penalty_is_small_unless_told() -> None:
    assert PolynomialRegressionConfig().l2 == 1e-3


def test_a_constant_feature_does_no_harm() -> None:
    x, y = cubic(20, seed=0)
    with_constant = torch.cat((x, torch.full_like(x, 7.0)), dim=1)
    torch.testing.assert_close(fitted(with_constant, y)(with_constant), fitted(x, y)(x))


@pytest.mark.covers("polynomial-regression")
def test_degree_lowers_the_training_error_and_three_is_best_for_a_cubic() -> None:
    x, y = cubic(20, seed=1)
    new_x, new_y = cubic(2_000, seed=2)
    degrees = (1, 2, 3, 4, 6, 9, 12, 15)
    models = [fitted(x, y, degree=degree) for degree in degrees]
    train = [(model(x) - y).square().mean().item() for model in models]
    test = [(model(new_x) - new_y).square().mean().item() for model in models]
    assert train == sorted(train, reverse=True)
    assert degrees[test.index(min(test))] == 3
    assert test[-1] > 100 * min(test)

    # A huge penalty on the third and fourth power alone leaves the quadratic.
    powers = monomials(x, 4)
    dear = powers / torch.tensor([1.0, 1.0, 1e6, 1e6])  # a column scaled down costs more to use
    slope, bias = solve_least_squares(dear, y, l2=1e-7)
    quadratic = fitted(x, y, degree=2)
    torch.testing.assert_close(dear @ slope.T + bias, quadratic(x).detach(), rtol=0, atol=1e-4)


def test_penalty_pulls_the_weights_to_zero() -> None:
    x, y = cubic(30, seed=0)
    sizes = [fitted(x, y, degree=9, l2=l2).affine.weight.norm().item() for l2 in (0, 1e-3, 1.0)]
    assert sizes == sorted(sizes, reverse=True)


def test_too_many_monomials_are_refused() -> None:
    sentence = "degree 4 of 64 features makes 814384 monomials, wanted at most 5000"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        build(64, degree=4)


@pytest.mark.slow
@pytest.mark.covers("model-complexity")
def test_the_gap_falls_with_the_rows_and_rises_with_the_degree() -> None:
    # With noise of variance s^2 and p weights the expected gap is about 2 s^2 p / n.
    def gap(degree: int, rows: int) -> float:
        found = []
        for repeat in range(60):
            rng = generator(repeat, "complexity", rows)
            x = 2 * torch.rand(2 * rows, 1, generator=rng, dtype=torch.float64) - 1
            y = torch.sin(2 * x) + 0.5 * torch.randn(x.shape, generator=rng, dtype=x.dtype)
            model = fitted(x[:rows], y[:rows], degree=degree)
            errors = (model(x) - y).square().detach()
            found.append(float(errors[rows:].mean() - errors[:rows].mean()))
        return float(np.mean(found))

    rows = [40, 80, 160, 320]
    slope = np.polyfit(np.log(rows), np.log([gap(3, count) for count in rows]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.35)
    assert gap(1, 80) < gap(3, 80) < gap(6, 80) < gap(9, 80)
