"""Distances from a hyperplane: hand-worked sets, brute force, and what does not change them."""

import re

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.metrics.margin import hesse_normal_form, margin, signed_distance


def random_points(seed: int = 0) -> tuple[torch.Tensor, ...]:
    numbers = torch.Generator().manual_seed(seed)
    points = torch.randn(40, 3, generator=numbers, dtype=torch.float64)
    weight = torch.randn(3, generator=numbers, dtype=torch.float64)
    bias = torch.randn((), generator=numbers, dtype=torch.float64)
    signs = torch.randn(40, generator=numbers, dtype=torch.float64).sign()
    return points, signs, weight, bias


@pytest.mark.covers("hyperplane-hesse")
def test_foot_of_the_origin_lies_on_the_plane_at_the_offset() -> None:
    _, _, weight, bias = random_points()
    foot = -bias * weight / weight.norm() ** 2
    assert float(weight @ foot + bias) == pytest.approx(0, abs=1e-12)
    assert float(foot.norm()) == pytest.approx(float(bias.abs() / weight.norm()))
    normal, offset = hesse_normal_form(weight, bias)
    assert float(normal.norm()) == pytest.approx(1)
    torch.testing.assert_close(offset * normal, foot)


@pytest.mark.covers("signed-distance")
def test_signed_distance_is_the_way_to_the_plane_and_its_sign_the_answer() -> None:
    points, signs, weight, bias = random_points()
    distances = signed_distance(points, signs, weight, bias)
    for scale in (0.01, 7.0):
        scaled = signed_distance(points, signs, scale * weight, scale * bias)
        torch.testing.assert_close(scaled, distances)
    # By brute force: the nearest of many points of the plane.
    numbers = torch.Generator().manual_seed(1)
    foot = -bias * weight / weight.norm() ** 2
    across = torch.linalg.svd(weight[None]).Vh[1:]  # two directions within the plane
    steps = 4 * torch.rand(200_000, 2, generator=numbers, dtype=torch.float64) - 2
    for point, distance in zip(points[:3], distances[:3], strict=True):
        centre = foot + (point - foot) @ across.T @ across
        nearest = (centre + 0.2 * steps @ across - point).norm(dim=1).min()
        assert float(nearest) == pytest.approx(abs(float(distance)), abs=1e-3)
    right = (points @ weight + bias).sign() == signs
    assert torch.equal(distances > 0, right)


@pytest.mark.covers("dataset-margin")
def test_margin_is_the_least_distance_and_negative_with_one_wrong_label() -> None:
    points = torch.tensor([[3.0, 0.0], [1.0, 5.0], [-2.0, 1.0], [-4.0, -4.0]])
    signs = torch.tensor([1.0, 1.0, -1.0, -1.0])
    weight, bias = torch.tensor([2.0, 0.0]), torch.tensor(0.0)
    assert float(margin(points, signs, weight, bias)) == 1.0
    assert float(margin(points, signs, weight, torch.tensor(2.0))) == 1.0  # the plane x = -1
    for index in range(4):
        flipped = signs.clone()
        flipped[index] *= -1
        assert float(margin(points, flipped, weight, bias)) < 0


def test_plane_without_a_direction_is_refused() -> None:
    sentence = "weight must not be zero: it is normal to no hyperplane"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        hesse_normal_form(torch.zeros(2), torch.tensor(1.0))


def test_shapes_that_do_not_go_together_are_refused() -> None:
    points, signs, bias = torch.zeros(4, 2), torch.ones(4), torch.tensor(0.0)
    with pytest.raises(ShapeError, match=r"^weight must have shape \(D\), got \(2, 2\)$"):
        hesse_normal_form(torch.ones(2, 2), bias)
    with pytest.raises(ShapeError, match=r"^bias must have shape \(\), got \(1,\)$"):
        hesse_normal_form(torch.ones(2), bias[None])
    with pytest.raises(ShapeError, match=r"^inputs must have shape \(N, 3\), got \(4, 2\)$"):
        signed_distance(points, signs, torch.ones(3), bias)
    with pytest.raises(ShapeError, match=r"^signs must have shape \(4\), got \(1,\)$"):
        signed_distance(points, signs[:1], torch.ones(2), bias)


def test_no_points_have_no_margin() -> None:
    with pytest.raises(ShapeError, match=r"^inputs must not be empty, got shape \(0, 2\)$"):
        margin(torch.zeros(0, 2), torch.zeros(0), torch.ones(2), torch.tensor(0.0))
