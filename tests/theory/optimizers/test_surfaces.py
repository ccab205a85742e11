"""Surfaces: gradients against autograd, minima, and starts within the picture."""

import torch

from netwright.theory.optimizers.surfaces import SURFACES
from tests.repetition import for_each


@for_each("name", list(SURFACES))
def test_gradients_are_those_of_the_values(name: str) -> None:
    surface = SURFACES.load(name)
    places = torch.tensor([[0.3, -0.7], [-1.2, 1.0], [2.0, 0.5]], dtype=torch.float64)
    wanted = torch.func.grad(lambda x: surface.value(x).sum())(places)
    assert torch.allclose(surface.gradient(places), wanted, rtol=1e-12)


@for_each("name", list(SURFACES))
def test_minima_are_zero_and_flat_and_everywhere_else_is_higher(name: str) -> None:
    surface = SURFACES.load(name)
    minima = torch.tensor(surface.minima, dtype=torch.float64)
    assert torch.allclose(surface.value(minima), torch.zeros(len(minima), dtype=torch.float64))
    assert surface.gradient(minima).abs().max() < 1e-12
    axes = (torch.linspace(*ends, 50) for ends in (surface.x_range, surface.y_range))
    assert surface.value(torch.cartesian_prod(*axes)).min() >= 0


@for_each("name", list(SURFACES))
def test_the_start_and_the_minima_lie_in_the_picture(name: str) -> None:
    surface = SURFACES.load(name)
    for x, y in (surface.start, *surface.minima):
        assert surface.x_range[0] < x < surface.x_range[1]
        assert surface.y_range[0] < y < surface.y_range[1]
