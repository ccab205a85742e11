"""The linear recurrent unit: dense and diagonal forms, stability, the ring, and its formula."""

import math

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.recurrence.linear_recurrent_unit import (
    LinearRecurrentUnit,
    draw_ring,
    eigenvalues,
)
from netwright.layers.recurrence.scan import scan
from tests.repetition import for_each

DOUBLE = torch.float64


def unit(size: int = 3, states: int = 4) -> LinearRecurrentUnit:
    with seeded(0):
        return LinearRecurrentUnit(size, states).double()


def normal(*shape: int, seed: int = 7) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


@pytest.mark.covers("diagonalization")
@for_each("seed", range(5))
def test_a_random_matrix_is_diagonal_in_its_eigenvectors(seed: int) -> None:
    matrix = normal(8, 8, seed=seed)
    values, vectors = torch.linalg.eig(matrix)
    rebuilt = vectors @ values.diag() @ torch.linalg.inv(vectors)
    torch.testing.assert_close(rebuilt, matrix.to(rebuilt.dtype), rtol=0, atol=1e-8)


def dense_and_diagonal(seed: int) -> tuple[Tensor, Tensor]:
    """z_t = A z_{t-1} + B x_t, and the same by the scan in the basis of A's eigenvectors."""
    matrix, reads, x = normal(6, 6, seed=seed), normal(6, 2, seed=seed + 50), normal(1, 80, 2)
    matrix /= 1.05 * torch.linalg.eigvals(matrix).abs().max()
    state, dense = torch.zeros(1, 6, dtype=DOUBLE), []
    for x_t in x.unbind(1):
        state = state @ matrix.T + x_t @ reads.T
        dense.append(state)
    values, vectors = torch.linalg.eig(matrix)
    inward = torch.linalg.inv(vectors) @ reads.to(values.dtype)  # C = P^-1 B
    diagonal = scan(values, x.to(values.dtype) @ inward.T) @ vectors.T
    return torch.stack(dense, dim=1), diagonal


@pytest.mark.covers("lru")
def test_diagonal_and_dense_recurrence_agree_and_an_impulse_decays_by_the_eigenvalue() -> None:
    for seed in range(5):
        dense, diagonal = dense_and_diagonal(seed)
        torch.testing.assert_close(diagonal, dense.to(diagonal.dtype), rtol=0, atol=1e-8)
    nu = torch.linspace(-5, 5, 101, dtype=DOUBLE)
    size = eigenvalues(nu, torch.zeros_like(nu)).abs()
    assert bool(((size > 0) & (size < 1)).all())
    layer, impulse = unit(), torch.zeros(1, 30, 3, dtype=DOUBLE)
    impulse[0, 0] = 1
    a, b = layer.coefficients(impulse)
    heights = scan(a, b).abs()[0]  # (T, N)
    powers = a.abs() ** torch.arange(30, dtype=DOUBLE)[:, None]
    torch.testing.assert_close(heights, heights[0] * powers, rtol=0, atol=1e-12)


@pytest.mark.covers("lru-stability")
def test_no_parameter_makes_the_state_explode_and_a_radius_above_one_does() -> None:
    numbers = torch.Generator().manual_seed(0)
    nu = torch.empty(200, dtype=DOUBLE).uniform_(-5, 5, generator=numbers)
    theta = torch.empty(200, dtype=DOUBLE).uniform_(-5, 1.8, generator=numbers)
    values = eigenvalues(nu, theta)
    assert bool(((values.abs() > 0) & (values.abs() < 1)).all())
    x = normal(1, 10_000, 1).to(values.dtype).expand(1, 10_000, 200)
    bound = x.abs().max() / (1 - values.abs())  # the geometric series
    assert bool((scan(values, x).abs() <= bound).all())
    assert float(scan(1.01 * values / values.abs(), x)[0, -1].abs().min()) > 1e30


@pytest.mark.covers("lru-ring-init")
@pytest.mark.parametrize(("r_min", "r_max"), [(0.0, 0.5), (0.4, 0.9), (0.9, 0.999)])
def test_eigenvalues_begin_evenly_spread_over_the_ring(r_min: float, r_max: float) -> None:
    with seeded(0):
        nu, theta = (part.double() for part in draw_ring(20_000, r_min, r_max, 2 * math.pi))
    values = eigenvalues(nu, theta)
    radius = (-nu.exp()).exp()
    torch.testing.assert_close(values.abs(), radius, rtol=0, atol=1e-12)
    torch.testing.assert_close((-radius.log()).log(), nu, rtol=0, atol=1e-9)
    assert r_min - 1e-6 <= float(radius.min())
    assert float(radius.max()) <= r_max + 1e-6
    middle = (r_min**2 + r_max**2) / 2  # half of the area lies within this square
    assert abs(float((radius**2 < middle).double().mean()) - 0.5) < 0.02
    assert float(values.mean().abs()) < 0.02  # all directions


def test_a_small_phase_makes_slow_waves() -> None:
    with seeded(0):
        layer = LinearRecurrentUnit(3, 100, max_phase=0.3)
    angles = layer.eigenvalues().detach().angle()
    assert float(angles.min()) >= 0
    assert float(angles.max()) <= 0.3 + 1e-6


def test_is_its_formula_in_complex_numbers() -> None:
    layer, x = unit(), normal(2, 12, 3)
    inward = torch.complex(layer.read_in[0::2], layer.read_in[1::2])
    # Re(C h) = Re C Re h - Im C Im h
    outward = torch.complex(layer.read_back[:, 0::2], -layer.read_back[:, 1::2])
    state = torch.zeros(2, 4, dtype=torch.complex128)
    outputs, last = layer(x)
    for t, x_t in enumerate(x.unbind(1)):
        pushed = layer.log_gamma.exp() * (x_t.to(state.dtype) @ inward.T)
        state = layer.eigenvalues() * state + pushed
        wanted = (state @ outward.T).real + layer.skip * x_t
        torch.testing.assert_close(outputs[:, t], wanted, rtol=0, atol=1e-10)
    torch.testing.assert_close(torch.view_as_complex(last), state, rtol=0, atol=1e-10)


def test_inputs_begin_scaled_so_that_each_state_keeps_the_size_of_its_inputs() -> None:
    layer = unit(states=50)
    gamma, radius = layer.log_gamma.exp(), layer.eigenvalues().abs()
    torch.testing.assert_close(
        gamma.square() + radius.square(), torch.ones(50, dtype=DOUBLE), rtol=0, atol=1e-5
    )


def test_channels_of_all_radii_begin_equally_large() -> None:
    with seeded(0):
        layer = LinearRecurrentUnit(16, 64, r_min=0.5, r_max=0.99)
    with torch.no_grad():
        _, last = layer(torch.randn(100, 300, 16, generator=torch.Generator().manual_seed(0)))
        power = torch.view_as_complex(last).abs().square().mean(dim=0)  # (N,)
        unscaled = power / layer.log_gamma.exp().square()
    assert 0.5 < float(power.mean()) < 1.5
    assert float(power.std() / power.mean()) < 0.5 * float(unscaled.std() / unscaled.mean())


@pytest.mark.parametrize(("r_min", "r_max"), [(0.9, 0.9), (0.5, 1.0), (-0.1, 0.5)])
def test_a_ring_outside_of_the_disc_is_refused(r_min: float, r_max: float) -> None:
    with pytest.raises(
        ConfigError,
        match=rf"^r_min and r_max must satisfy 0 <= r_min < r_max < 1, got {r_min} "
        rf"and {r_max}$",
    ):
        LinearRecurrentUnit(2, 2, r_min=r_min, r_max=r_max)
