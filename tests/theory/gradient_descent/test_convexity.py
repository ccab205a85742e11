"""Convexity: sets, functions, Jensen's inequality and its bound, and the one minimum."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import softplus

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.gradient_descent.convexity import (
    JENSEN,
    LOCAL_IS_GLOBAL,
    chord_violations,
    logistic_bowl,
)
from netwright.theory.networks.network_symmetries import random_net
from netwright.theory.optimizers.optimizer_path import optimizer_path


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "claim", [JENSEN, LOCAL_IS_GLOBAL], ids=lambda claim: claim.card.sentence[:20]
)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def segments(dimensions: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    rng = generator(seed, "segments")
    x, y = 2 * torch.randn(2, 2000, dimensions, generator=rng, dtype=torch.float64)
    return x, y, torch.rand(2000, generator=rng, dtype=torch.float64)


@pytest.mark.covers("convex-set")
def test_segments_stay_in_convex_sets_and_leave_the_others() -> None:
    x, y, share = segments(3)
    x, y = x / 3, y / 3
    y[:, 2] = -x[:, 2]  # so that a good part of the middles lies near the plane

    def ball(place: Tensor) -> Tensor:
        return place.square().sum(-1) <= 1

    def leaves(is_member) -> int:  # type: ignore[no-untyped-def]
        flat_x, flat_y = (v * torch.tensor([1.0, 1.0, 0.0]) for v in (x, y))
        found = 0
        for a, b in ((x, y), (flat_x, flat_y)):
            inside = is_member(a) & is_member(b)
            assert inside.sum() > 100
            found += int((inside & ~is_member(share[:, None] * a + (1 - share[:, None]) * b)).sum())
        return found

    def half_space(place: Tensor) -> Tensor:
        return place.sum(-1) <= 0.5

    assert leaves(ball) == leaves(half_space) == leaves(lambda v: ball(v) & half_space(v)) == 0
    plane = torch.tensor([1.0, -2.0, 1.0], dtype=torch.float64)
    on_plane = [v - (v @ plane)[:, None] * plane / plane.square().sum() for v in (x, y)]
    between = share[:, None] * on_plane[0] + (1 - share[:, None]) * on_plane[1]
    assert (between @ plane).abs().max() < 1e-12
    centre = torch.tensor([1.0, 0.0, 0.0])
    assert leaves(lambda v: ball(v) & (v.norm(dim=-1) >= 0.5)) > 0
    assert leaves(lambda v: (v - centre).norm(dim=-1).minimum((v + centre).norm(dim=-1)) < 0.9) > 0


@pytest.mark.covers("convex-function")
def test_chords_lie_above_convex_functions_and_cut_the_others() -> None:
    x, y, share = segments(1)
    for convex in (torch.square, torch.exp, softplus):
        assert chord_violations(lambda v, f=convex: f(v[:, 0]), x, y, share) == 0  # type: ignore[misc]
    assert chord_violations(lambda v: v[:, 0].sin(), x, y, share) > 0
    inputs = torch.linspace(-1, 1, 8, dtype=torch.float64)[:, None]

    def loss_of_a_network(weights: Tensor) -> Tensor:
        hidden = (inputs[None] * weights[:, None, :2]).tanh()
        return ((hidden * weights[:, None, 2:]).sum(-1) - inputs[:, 0]).square().mean(-1)

    assert chord_violations(loss_of_a_network, *segments(4)) > 0


@pytest.mark.covers("jensen")
def test_jensen_never_fails_for_exp_and_the_square_and_is_equal_for_affine_functions() -> None:
    assert JENSEN.check(size="full").measured == 0
    rng = generator(0, "jensen-test")
    points = torch.randn(500, 4, generator=rng, dtype=torch.float64)
    weights = torch.rand(500, 4, generator=rng, dtype=torch.float64)
    weights = weights / weights.sum(1, keepdim=True)
    mean = (weights * points).sum(1)
    assert (mean.square() <= (weights * points.square()).sum(1) + 1e-12).all()
    assert torch.allclose(3 * mean - 2, (weights * (3 * points - 2)).sum(1), atol=1e-12)


@pytest.mark.covers("jensen-latent-bound")
def test_the_mean_surprise_of_the_parts_bounds_that_of_the_mixture() -> None:
    x, share = torch.linspace(-6, 6, 201, dtype=torch.float64), torch.tensor([0.3, 0.7])
    for gap in (0.0, 1.0, 4.0):
        parts = torch.stack([-(x - m).square() / 2 for m in (-gap / 2, gap / 2)])  # (2, x)
        bound = -(share[:, None] * parts).sum(0)
        surprise = -torch.logsumexp(parts + share.log()[:, None], dim=0)
        assert (bound >= surprise - 1e-6).all()
        assert torch.allclose(bound, surprise, atol=1e-6) == (gap == 0)


@pytest.mark.covers("convex-local-global")
def test_descent_on_a_convex_loss_ends_at_one_height_from_fifty_starts() -> None:
    held, waves = LOCAL_IS_GLOBAL.check(), LOCAL_IS_GLOBAL.check(convex=False)
    assert held.n == 50
    assert held.measured < 1e-6
    assert waves.measured > 0.01


@pytest.mark.covers("local-global-minima")
@pytest.mark.parametrize("waves", [False, True])
def test_the_bowl_by_hand_and_its_gradient_by_autograd(waves: bool) -> None:
    inputs = torch.tensor([[1.0, 2.0], [0.0, -1.0]], dtype=torch.float64)
    loss, gradient = logistic_bowl(inputs, torch.tensor([1.0, 0.0]).double(), waves=waves)
    weights = torch.tensor([[0.5, -0.25], [3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    # At (0.5, -0.25) the logits are 0 and 0.25: (log 2 + log(1 + e^0.25)) / 2 + 0.05 * 0.3125
    surprise = (math.log(2) + math.log1p(math.exp(0.25))) / 2 + 0.05 * 0.3125
    height = (2 - math.cos(2) - math.cos(1)) / 6 if waves else 0.0
    assert loss(weights)[0].item() == pytest.approx(surprise + height)
    (slope,) = torch.autograd.grad(loss(weights).sum(), weights)
    torch.testing.assert_close(gradient(weights.detach()), slope)


def test_where_descent_ends_depends_on_where_it_starts() -> None:
    def gradient(x: Tensor) -> Tensor:  # of (x^2 - 1)^2 / 4 + x / 10
        return x * (x.square() - 1) + 0.1

    starts = torch.tensor([-0.5, 0.5], dtype=torch.float64)
    left, right = optimizer_path("sgd", gradient, starts, lr=0.1, steps=500)[-1].tolist()
    assert left == pytest.approx(-1.0467, abs=1e-3)
    assert right == pytest.approx(0.9456, abs=1e-3)
    heights = [(x * x - 1) ** 2 / 4 + x / 10 for x in (left, right)]
    assert heights[0] < heights[1]


@pytest.mark.covers("nonconvexity-nn")
def test_between_two_equal_networks_the_loss_is_higher() -> None:
    inputs = torch.linspace(-2, 2, 50, dtype=torch.float64)[:, None]
    net = random_net(1, [4], "tanh", 0)
    with torch.no_grad():
        targets = net(inputs)
        weights = {name: value.clone() for name, value in net.named_parameters()}
        turned = {
            name: value.roll(1, dims=1 if name == "head.weight" else 0)
            if name != "head.bias"
            else value
            for name, value in weights.items()
        }
        middle = {name: (weights[name] + turned[name]) / 2 for name in weights}
        losses = [
            float((torch.func.functional_call(net, one, inputs) - targets).square().mean())
            for one in (weights, turned, middle)
        ]
    assert losses[:2] == pytest.approx([0, 0], abs=1e-20)
    assert losses[2] > 1e-3
