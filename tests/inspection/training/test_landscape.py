"""The landscape: exact where it is known, true along the path, the same for the same function."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.inspection.training.landscape import (
    Landscape,
    PlaneConfig,
    Snapshot,
    measure_landscape,
)
from netwright.inspection.training.weight_plane import random_plane

RANDOM = PlaneConfig(kind="random", cells=5)
CURVATURE = torch.tensor([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]], dtype=torch.float64)
LOWEST = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64)


def quadratic(weights: dict[str, Tensor]) -> float:
    away = (weights["w"] - LOWEST)[0]
    return float(away @ CURVATURE @ away)


def relu_net() -> nn.Sequential:
    with seeded(0):
        return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 3)).double()


def loss_of(net: nn.Module) -> tuple[dict[str, Tensor], "Loss"]:
    return {name: weight.detach() for name, weight in net.named_parameters()}, Loss(net)


class Loss:
    """Cross-entropy on a few fixed rows."""

    def __init__(self, net: nn.Module) -> None:
        random = torch.Generator().manual_seed(1)
        self.net, self.targets = net, torch.arange(12) % 3
        self.inputs = torch.randn(12, 3, generator=random, dtype=torch.float64)

    def __call__(self, weights: dict[str, Tensor]) -> float:
        logits = functional_call(self.net, weights, (self.inputs,))
        return float(nn.functional.cross_entropy(logits, self.targets))


@pytest.mark.covers("loss-landscape")
def test_a_quadratic_is_its_exact_paraboloid_and_the_middle_has_the_loss_of_the_weights() -> None:
    weights = {"w": torch.tensor([[0.5, 1.5, -1.0]], dtype=torch.float64)}
    view = measure_landscape(quadratic, weights, {}, RANDOM, rows=1)
    directions = random_plane(weights).directions
    slope = 2 * CURVATURE @ (weights["w"] - LOWEST)[0]
    for b, row in zip(view.second, view.heights, strict=True):
        for a, height in zip(view.first, row, strict=True):
            step = a * directions[0] + b * directions[1]
            exact = quadratic(weights) + slope @ step + step @ CURVATURE @ step
            assert height == pytest.approx(float(exact), abs=1e-12)
    net, loss = loss_of(relu_net())
    view = measure_landscape(loss, net, {}, RANDOM, rows=12)
    assert view.heights[2][2] == view.loss == loss(net)


def test_a_relu_net_with_scaled_layers_has_the_same_landscape() -> None:
    """The same function must look the same; without the filters' lengths it would not."""
    plain, scaled = relu_net(), relu_net()
    with torch.no_grad():
        before, bias, after, _ = scaled.parameters()
        before.mul_(8)
        bias.mul_(8)
        after.div_(8)
    views = []
    for net in (plain, scaled):
        weights, loss = loss_of(net)
        views.append(measure_landscape(loss, weights, {}, RANDOM, rows=12))
    one, other = (torch.tensor(view.heights, dtype=torch.float64) for view in views)
    torch.testing.assert_close(one, other)
    assert one.max() > 1.5 * one.min()


def circle(count: int) -> dict[int, dict[str, Tensor]]:
    """Snapshots on an arc in the plane of the first two weights, which ends at (1, -2, 0.5)."""
    angles = torch.linspace(1.5, 0, count, dtype=torch.float64)
    away = torch.stack([angles.cos() - 1, angles.sin(), torch.zeros(count)], dim=1)
    return {10 * step: {"w": LOWEST + away[step]} for step in range(count)}


def test_the_path_has_its_true_losses_and_on_its_own_plane_the_same() -> None:
    path = circle(6)
    view = measure_landscape(quadratic, path[50], path, PlaneConfig(cells=3), rows=1)
    assert [one.step for one in view.path] == [0, 10, 20, 30, 40, 50]
    assert [one.loss for one in view.path] == [quadratic(then) for then in path.values()]
    assert [one.shadow for one in view.path] == pytest.approx([one.loss for one in view.path])
    assert sum(view.shares) == pytest.approx(1)
    assert view.path[-1].place == pytest.approx((0, 0))
    lengths = [math.hypot(*one.place) for one in view.path]
    assert lengths == pytest.approx([float((then["w"] - LOWEST).norm()) for then in path.values()])
    x, y = zip(*(one.place for one in view.path), strict=True)
    assert view.first[0] < min(x) < max(x) < view.first[-1]
    assert view.second[0] < min(y) < max(y) < view.second[-1]


def test_a_path_beside_its_plane_has_a_shadow_of_another_height() -> None:
    path = circle(6)
    path[30] = {"w": path[30]["w"] + torch.tensor([0.0, 0.0, 0.3])}
    view = measure_landscape(quadratic, path[50], path, PlaneConfig(cells=3), rows=1)
    assert sum(view.shares) < 1
    assert view.path[3].shadow != pytest.approx(view.path[3].loss, rel=1e-3)


def test_a_wider_span_is_a_wider_plane() -> None:
    near, far = (
        measure_landscape(quadratic, circle(6)[50], circle(6), PlaneConfig(cells=3, span=s), rows=1)
        for s in (1.0, 2.0)
    )
    assert far.first[-1] - far.first[0] == pytest.approx(2 * (near.first[-1] - near.first[0]))
    assert far.first[1] == pytest.approx(near.first[1])


def test_without_a_path_that_bends_auto_is_random_and_path_is_refused() -> None:
    weights = circle(6)[50]
    auto, random = (
        measure_landscape(quadratic, weights, circle(2), replace(RANDOM, kind=kind), rows=1)
        for kind in ("auto", "random")
    )
    assert auto == random
    assert auto.path == ()
    sentence = "the plane of the path needs a path that is not straight, the run has 2 snapshots"
    with pytest.raises(ConfigError, match=sentence):
        measure_landscape(quadratic, weights, circle(2), PlaneConfig(kind="path"), rows=1)


@pytest.mark.parametrize("cells", [1, 0, -3])
def test_refuses_a_plane_of_one_cell(cells: int) -> None:
    with pytest.raises(ConfigError, match="cells"):
        PlaneConfig(cells=cells)


def test_a_height_that_is_not_finite_is_left_blank() -> None:
    def cliff(weights: dict[str, Tensor]) -> float:
        return math.inf if float(weights["w"][0, 0]) > 1.5 else quadratic(weights)

    view = measure_landscape(cliff, {"w": LOWEST}, {}, RANDOM, rows=1)
    assert None in {height for row in view.heights for height in row}
    assert view.image("png").startswith(b"\x89PNG")


@pytest.mark.parametrize("heights", [((1.0, 1.0), (1.0, 1.0)), ((-2.0, 0.0), (1.0, 3.0))])
def test_flat_and_negative_landscapes_are_drawn(heights: tuple[tuple[float, ...], ...]) -> None:
    """A density's loss may lie below 0."""
    path = (
        Snapshot(step=0, place=(-1.0, 0.0), loss=0.0, shadow=0.0),
        Snapshot(step=1, place=(0.0, 0.0), loss=-1.0, shadow=None),
    )
    view = Landscape(
        rows=4,
        loss=1.0,
        first=(-1.0, 1.0),
        second=(-1.0, 1.0),
        heights=heights,
        path=path,
        shares=(0.9, 0.06),
        has_statistics=True,
    )
    assert view.image("png").startswith(b"\x89PNG")
    assert "The plane holds 96.0 % of the path's" in view.caption
    assert "(step 0, loss 0) to step 1 (loss -1)" in view.caption
    assert view.caption.endswith("Batch norm uses the statistics of the kept weights everywhere.")
    assert view.table_rows()[1] == {
        "step": "1",
        "loss": "-1",
        "loss on the plane": "not finite",
        "first direction": "0",
        "second direction": "0",
    }
    assert "two directions are random" in replace(view, path=()).caption
