"""Novikoff's theorem and its two lemmas: no set breaks them, and the bound is met."""

import math

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.models.neurons.separability import widest_plane, with_ones
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.neurons.perceptron_convergence import (
    ALIGNMENT,
    NORM,
    NOVIKOFF,
    LabelledPoints,
    SetsConfig,
    _in_the_ball,
    orthogonal_points,
    room_beyond,
    separable_sets,
    walk,
)


@pytest.mark.parametrize("claim", [NOVIKOFF, ALIGNMENT, NORM], ids=["novikoff", "align", "norm"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("novikoff-theorem")
def test_a_hundred_sets_stay_within_the_bound_and_half_the_margin_takes_four_times() -> None:
    verdict = NOVIKOFF.check(seed=1)
    assert verdict.holds
    assert verdict.findings[0].n == 100
    assert verdict.findings[0].measured == 0
    # Orthogonal points scaled to R = 1: the worst case, in which every one is a mistake.
    counts, margins = [], []
    for size in (4, 16, 64):
        points = orthogonal_points(size)
        counts.append(len(walk(points, seed=0, most=1000)))
        plane = widest_plane(with_ones(points.inputs), points.signs)
        margins.append(plane.margin / points.longest)
    assert counts == [4, 16, 64]
    assert margins == pytest.approx([1 / 2, 1 / 4, 1 / 8])


@pytest.mark.covers("perceptron-lemma-alignment")
def test_each_update_adds_the_margin_to_the_alignment() -> None:
    for points, plane in separable_sets(SetsConfig(sets=20), 3, "quick"):
        weights = walk(points, seed=3, most=10_000).cumsum(dim=0)
        for t, weight in enumerate(weights, start=1):
            assert float(plane.normal @ weight) >= t * plane.margin - 1e-9


@pytest.mark.covers("perceptron-lemma-norm")
def test_each_update_adds_at_most_the_longest_example_to_the_square() -> None:
    for points, _ in separable_sets(SetsConfig(sets=20), 4, "quick"):
        weights = walk(points, seed=4, most=10_000).cumsum(dim=0)
        for t, weight in enumerate(weights, start=1):
            assert float(weight.square().sum()) <= t * points.longest**2 + 1e-9


def test_sets_have_the_margin_that_is_asked_for() -> None:
    sets = separable_sets(SetsConfig(margin=0.05, points=30, sets=10), 0, "quick")
    assert all(len(points.inputs) == 30 for points, _ in sets)
    assert all(float(points.inputs.norm(dim=1).max()) <= 1 for points, _ in sets)
    for index, (points, plane) in enumerate(sets):
        # The plane it was made with passes through the origin: no wider than the widest.
        assert plane.margin >= 0.05 * 4 ** (index / 9) - 1e-9
        assert math.isclose(float((points.turned @ plane.normal).min()), plane.margin)


def test_points_of_the_ball_lie_in_their_directions_as_far_out_as_uniform_ones() -> None:
    drawn = _in_the_ball(4000, 3, torch.Generator().manual_seed(5))
    random = torch.Generator().manual_seed(5)
    directions = torch.randn(4000, 3, generator=random, dtype=torch.float64)
    assert bool(((drawn * directions).sum(dim=1) > 0).all())
    # Half of the ball's volume lies within (1/2)^(1/3) of its middle.
    shares = [
        float((drawn.norm(dim=1) < radius).double().mean()) for radius in (0.5, 0.5 ** (1 / 3))
    ]
    assert shares == pytest.approx([1 / 8, 1 / 2], abs=0.03)


def test_turned_points_have_a_one_and_their_sign_and_the_longest_is_r() -> None:
    points = LabelledPoints(
        torch.tensor([[3.0, 4.0], [1.0, 2.0]], dtype=torch.float64),
        torch.tensor([-1.0, 1.0], dtype=torch.float64),
    )
    assert points.turned.tolist() == [[-3, -4, -1], [1, 2, 1]]
    assert points.longest == pytest.approx(math.sqrt(26))


def test_a_walk_by_hand() -> None:
    points = LabelledPoints(
        torch.tensor([[1.0], [-1.0]], dtype=torch.float64),
        torch.tensor([1.0, -1.0], dtype=torch.float64),
    )
    # z = (1, 1) and (1, -1). From zero the first seen is a mistake, and so is the other one: w = 2.
    assert sorted(walk(points, seed=0, most=9).tolist()) == [[1, -1], [1, 1]]


def test_walk_ends_without_a_mistake_or_beyond_the_most() -> None:
    points = orthogonal_points(16)
    whole = walk(points, seed=0, most=100)
    assert bool((points.turned @ whole.sum(dim=0) > 0).all())
    started = walk(points, seed=0, most=100, start=whole.sum(dim=0))
    assert started.shape == (0, 16)


def test_updates_of_twice_the_size_turn_the_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(points, seed, most, start=None):  # type: ignore[no-untyped-def]
        return 2 * walk(points, seed, most, start)

    monkeypatch.setattr("netwright.theory.neurons.perceptron_convergence.walk", doubled)
    assert not NORM.check().holds


def test_margin_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^margin must be less than 0.25, got 0.3$"):
        NOVIKOFF.check(margin=0.3)


def test_points_are_of_the_dimension_that_is_asked_for() -> None:
    (points, plane), *_ = separable_sets(SetsConfig(dimension=3, sets=1), 0, "quick")
    assert points.inputs.shape == (50, 3)
    assert plane.normal.shape == (4,)
    assert torch.equal(points.signs.abs(), torch.ones(50, dtype=torch.float64))


@pytest.mark.parametrize("points", [1, 2, 3])
def test_a_whole_bound_that_is_rounded_down_is_no_violation(points: int) -> None:
    assert NOVIKOFF.check(points=points).holds


def test_sets_without_room_are_refused_with_margin_and_dimension() -> None:
    wanted = (
        r"^margin and dimension must leave 1%% of the unit ball further than 4 margins from a "
        r"plane, got %s with margin %s in %s dimensions$"
    )
    with pytest.raises(ConfigError, match=wanted % (r"\S+", "0.24", "5")):
        NOVIKOFF.check(margin=0.24)
    with pytest.raises(ConfigError, match=wanted % (r"\S+", "0.1", "1000")):
        ALIGNMENT.check(dimension=1000)


def test_too_few_points_for_a_flipped_label_to_matter_are_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^points must be more than dimension \+ 1 for a flipped label to break separability,"
        r" got 6 points in 5 dimensions$",
    ):
        NOVIKOFF.check(points=6, separable=False)


@pytest.mark.parametrize(("gap", "dimension", "room"), [(0.5, 1, 0.5), (0.4, 5, 0.326), (0, 9, 1)])
def test_room_beyond_a_gap_is_the_share_of_the_ball(
    gap: float, dimension: int, room: float
) -> None:
    assert room_beyond(gap, dimension) == pytest.approx(room, abs=1e-3)


def test_the_chart_says_so_when_a_walk_was_stopped() -> None:
    assert "none may lie above" in NOVIKOFF.check(sets=5).chart.caption
    assert "stopped" in NOVIKOFF.check(sets=5, separable=False).chart.caption
