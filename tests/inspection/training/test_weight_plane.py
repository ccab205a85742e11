"""Planes through weights: true projections of a path, and filters as long as the weights'."""

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.inspection.training.weight_plane import (
    filter_normalised,
    flatten,
    path_plane,
    random_plane,
    unflatten,
)


def small_net() -> nn.Sequential:
    with seeded(3):
        return nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(6, 2))


def weights_of(net: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach() for name, weight in net.named_parameters()}


def test_flat_weights_come_back_in_their_shapes_and_kinds() -> None:
    weights = {"w": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([7.0], dtype=torch.bfloat16)}
    flat = flatten(weights)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7]
    again = unflatten(flat, weights)
    assert all(torch.equal(again[name], weight) for name, weight in weights.items())
    assert [weight.dtype for weight in again.values()] == [torch.float32, torch.bfloat16]


def test_each_filter_is_as_long_as_that_of_the_weights_and_biases_and_gains_rest() -> None:
    weights = weights_of(small_net())
    for direction in random_plane(weights).directions:
        parts = unflatten(direction, {name: weight.double() for name, weight in weights.items()})
        for name in ("0.weight", "3.weight"):
            ours, theirs = parts[name].flatten(1).norm(dim=1), weights[name].flatten(1).norm(dim=1)
            torch.testing.assert_close(ours, theirs.double(), rtol=1e-6, atol=0)
        for name in ("0.bias", "1.weight", "1.bias", "3.bias"):
            assert not parts[name].any()


def test_a_filter_worked_by_hand() -> None:
    scaled = filter_normalised(
        {"w": torch.tensor([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]]), "b": torch.tensor([9.0])},
        {"w": torch.tensor([[0.0, 10.0], [0.0, 0.0], [1.0, 1.0]]), "b": torch.tensor([5.0])},
    )
    assert scaled["w"].tolist() == [[6.0, 8.0], [0.0, 0.0], [0.0, 0.0]]
    assert scaled["b"].tolist() == [0.0]


@pytest.mark.parametrize("net", [small_net(), nn.Linear(1, 1), nn.Bilinear(2, 2, 1)], ids=str)
def test_the_two_random_directions_are_at_a_right_angle(net: nn.Module) -> None:
    """Also where a model has two numbers in all: then the plane is the whole of its weights."""
    first, second = random_plane(weights_of(net)).directions
    assert first.norm() > 0 < second.norm()
    assert abs(float(first @ second / (first.norm() * second.norm()))) < 1e-6


def test_a_seed_gives_the_same_plane_and_another_seed_another() -> None:
    weights = weights_of(small_net())
    planes = [random_plane(weights, seed).directions for seed in (1, 1, 2)]
    assert torch.equal(planes[0], planes[1])
    assert not torch.allclose(planes[0], planes[2])


def test_a_path_of_two_dimensions_lies_on_its_plane() -> None:
    random = torch.Generator().manual_seed(0)
    basis = torch.randn(2, 9, generator=random, dtype=torch.float64)
    centre = torch.randn(9, generator=random, dtype=torch.float64)
    path = centre + torch.randn(5, 2, generator=random, dtype=torch.float64) @ basis
    plane = path_plane(centre, path)
    assert plane is not None
    torch.testing.assert_close(centre + plane.places @ plane.directions, path)
    unit = torch.eye(2, dtype=torch.float64)
    torch.testing.assert_close(plane.directions @ plane.directions.T, unit)
    assert sum(plane.shares) == pytest.approx(1)
    assert plane.shares[0] >= plane.shares[1]
    assert bool((plane.places[0] <= 0).all())  # it begins on the left and below


def test_shares_are_those_of_the_squared_distances() -> None:
    path = torch.tensor([[3.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 1.0, 0]], dtype=torch.float64)
    plane = path_plane(torch.zeros(4, dtype=torch.float64), path)
    assert plane is not None
    assert plane.shares == pytest.approx((9 / 14, 4 / 14))
    torch.testing.assert_close(
        plane.places,
        torch.tensor([[-3.0, 0], [0, 2.0], [0, 0]], dtype=torch.float64).abs()
        * plane.places.sign(),
    )


def test_a_straight_path_has_no_plane() -> None:
    path = torch.arange(4.0, dtype=torch.float64)[:, None] * torch.ones(3, dtype=torch.float64)
    assert path_plane(path[-1], path) is None
    assert path_plane(path[0], path[1:2]) is None
    assert path_plane(path[0], path[:1]) is None
