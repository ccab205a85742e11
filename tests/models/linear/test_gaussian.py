"""Gaussian regression: the density, the noise of highest likelihood, and what is drawn."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.inspection.predictions.noise_band import NoiseBand
from netwright.inspection.predictions.residual_density import ResidualDensity
from netwright.models.linear.gaussian import (
    GaussianRegression,
    GaussianRegressionConfig,
    normal_log_density,
)
from tests.repetition import for_each


def line(rows: int, inputs: int, sigmas: list[float]) -> tuple[Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(rows, inputs, generator=numbers, dtype=torch.float64)
    noise = torch.randn(rows, len(sigmas), generator=numbers, dtype=torch.float64)
    return x, x.sum(dim=1, keepdim=True) + 1 + noise * torch.tensor(sigmas)


def fitted(
    x: Tensor, y: Tensor, weights: Tensor | None = None
) -> tuple[GaussianRegression, dict[str, float]]:
    spec = DataSpec(
        inputs="features", input_shape=(x.shape[1],), target="real", num_outputs=y.shape[1]
    )
    model = GaussianRegression.build(GaussianRegressionConfig(), spec).double()
    (numbers,) = model.fit_steps(Split(inputs=x, targets=y, weights=weights), seed=0)
    return model, numbers


@pytest.mark.covers("gaussian-density")
def test_density_is_that_of_scipy_and_its_area_is_one() -> None:
    places = torch.linspace(-30, 30, 20_001, dtype=torch.float64)
    for mean, sigma in ((0.0, 1.0), (2.0, 0.25), (-1.0, 3.0)):
        density = normal_log_density(places, torch.tensor(mean), torch.tensor(sigma).double()).exp()
        np.testing.assert_allclose(
            density, norm.pdf(places.numpy(), mean, sigma), atol=1e-14, rtol=1e-9
        )
        assert torch.trapezoid(density, places).item() == pytest.approx(1.0, abs=1e-6)


def test_line_and_noise_are_found() -> None:
    x, y = line(20_000, 2, [0.5, 3.0])
    model, _ = fitted(x, y)
    assert model.sigma.tolist() == pytest.approx([0.5, 3.0], rel=0.02)
    assert model.affine.weight[0].tolist() == pytest.approx([1.0, 1.0], abs=0.02)


def test_likelihood_is_highest_at_the_fit() -> None:
    x, y = line(60, 2, [0.5, 3.0])
    model, numbers = fitted(x, y)
    means, sigma = model(x).detach(), model.sigma

    def nll(means: Tensor, sigma: Tensor) -> float:
        return float(-normal_log_density(y, means, sigma).sum(dim=1).mean())

    assert numbers["nll"] == pytest.approx(nll(means, sigma), rel=1e-12)
    # At the optimum it is sum_k 1/2 (1 + log(2 pi sigma_k^2)).
    expected = sum(0.5 * (1 + math.log(2 * math.pi * size**2)) for size in sigma.tolist())
    assert numbers["nll"] == pytest.approx(expected, rel=1e-12)
    assert nll(means + 0.01, sigma) > numbers["nll"]
    assert nll(means + 0.01 * x[:, :1], sigma) > numbers["nll"]
    assert nll(means, 1.01 * sigma) > numbers["nll"]
    assert nll(means, 0.99 * sigma) > numbers["nll"]


def test_variance_divides_by_the_number_of_examples() -> None:
    x, y = line(10, 1, [1.0])
    model, numbers = fitted(x, y)
    squares = (y - model(x).detach()).square().sum().item()
    assert model.sigma.item() ** 2 == pytest.approx(squares / 10)
    assert numbers["loss"] == pytest.approx(squares / 10)


def test_a_weight_of_two_is_the_row_twice() -> None:
    x, y = line(12, 2, [1.0])
    counts = torch.arange(12) % 3
    repeated = torch.repeat_interleave(torch.arange(12), counts)
    weighted, numbers = fitted(x, y, counts)
    twice, again = fitted(x[repeated], y[repeated])
    torch.testing.assert_close(weighted.sigma, twice.sigma)
    assert numbers == pytest.approx(again)


@for_each("dtype", [torch.float32, torch.float64])
@for_each(("slope", "height"), [(0.0, 0.0), (0.0, 1e6), (2.0, 1.0)])
def test_a_perfect_line_has_a_finite_likelihood(
    slope: float, height: float, dtype: torch.dtype
) -> None:
    x = torch.arange(5, dtype=dtype)[:, None]
    y = slope * x + height
    spec = DataSpec(inputs="features", input_shape=(1,), target="real", num_outputs=1)
    model = GaussianRegression.build(GaussianRegressionConfig(), spec).to(dtype)
    (numbers,) = model.fit_steps(Split(inputs=x, targets=y), seed=0)
    assert math.isfinite(numbers["nll"])
    largest = y.abs().max().item() or 1.0
    least = torch.finfo(dtype).eps * largest
    assert 0.99 * least <= model.sigma.item() <= 10 * least
    (view,) = model.own_views(Split(inputs=x, targets=y)).values()
    assert "holds 100.0 % of the examples" in view.caption


def test_band_is_drawn_for_one_input_and_residuals_for_more() -> None:
    for inputs, outputs, kind in (
        (1, 1, NoiseBand),
        (1, 2, ResidualDensity),
        (3, 1, ResidualDensity),
    ):
        x, y = line(50, inputs, [1.0] * outputs)
        model, _ = fitted(x, y)
        (view,) = model.own_views(Split(inputs=x, targets=y)).values()
        assert type(view) is kind
        assert view.image("svg").startswith(b"<?xml")
