"""Cover's theorem: the counts one by one, the recurrence, and where half of them are left."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.neurons.dichotomies import (
    CAPACITY,
    COUNTING,
    count_dichotomies,
    cover_count,
    cover_share,
    fall_width,
    in_general_position,
)


@pytest.mark.parametrize("claim", [COUNTING, CAPACITY], ids=["counting", "capacity"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def test_formula_has_the_known_values_and_its_recurrence() -> None:
    assert [cover_count(s, 2) for s in range(1, 7)] == [2, 4, 6, 8, 10, 12]
    assert [cover_count(s, 3) for s in range(1, 9)] == [2, 4, 8, 14, 22, 32, 44, 58]
    for s in range(1, 12):
        assert cover_count(s, 1) == 2
        for n in range(2, 8):
            assert cover_count(s + 1, n) == cover_count(s, n) + cover_count(s, n - 1)
            assert s > n or cover_count(s, n) == 2**s


@pytest.mark.slow
@pytest.mark.covers("cover-counting")
def test_every_labeling_tried_gives_the_formula() -> None:
    verdict = COUNTING.check(size="full")
    assert verdict.holds
    found = {finding.what: finding.measured for finding in verdict.findings}
    assert found["dichotomies of 4 points in 2 dimensions"] == 8
    assert found["dichotomies of 6 points in 3 dimensions"] == 32
    assert found["dichotomies of 8 points in 3 dimensions"] == 58
    assert found["dichotomies of 3 points in 4 dimensions"] == 2**3
    assert len(found) == 24


@pytest.mark.covers("cover-capacity")
def test_half_is_left_at_two_points_a_dimension_and_the_fall_sharpens() -> None:
    assert all(cover_share(2 * n, n) == 0.5 for n in range(1, 21))
    early = [cover_share(3 * n // 2, n) for n in (10, 50, 250)]
    late = [cover_share(5 * n // 2, n) for n in (10, 50, 250)]
    assert early == sorted(early)
    assert late == sorted(late, reverse=True)
    assert early[-1] > 0.9999
    assert late[-1] < 0.0001
    assert fall_width(64) < fall_width(16) / 1.9


@pytest.mark.covers("general-position")
def test_random_points_are_in_general_position_and_doubled_ones_are_not() -> None:
    for seed in range(20):
        points = torch.randn(7, 3, generator=torch.Generator().manual_seed(seed))
        assert in_general_position(points)
        assert in_general_position(points[:2])
        doubled = torch.cat((points, points[:1]))
        assert not in_general_position(doubled)
    assert not in_general_position(torch.tensor([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert not in_general_position(torch.tensor([[1.0, 2, 3], [2.0, 4, 6]]))


def test_points_on_a_line_have_fewer_dichotomies() -> None:
    points = torch.tensor([[1.0, 2.0], [2.0, 4.0], [1.0, 0.0]])
    assert not in_general_position(points)
    assert count_dichotomies(points) == 4 < cover_count(3, 2)


@pytest.mark.slow
def test_the_labelings_that_were_drawn_are_the_first_finding() -> None:
    drawn, counted, _ = CAPACITY.check().findings
    assert (drawn.n, counted.n) == (100, 20)
    assert (counted.measured, counted.holds) == (0, True)
