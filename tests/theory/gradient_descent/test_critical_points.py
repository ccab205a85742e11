"""Critical points: their kinds, where descent ends, and the steepest way down."""

import pytest
import torch
from torch import Tensor

from netwright.backprop.second_order import critical_point
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.gradient_descent.critical_points import SECOND_DERIVATIVE, STEEPEST
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.optimizers.surfaces import SADDLE


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "claim", [SECOND_DERIVATIVE, STEEPEST], ids=lambda claim: claim.card.sentence[:20]
)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def at(*place: float) -> Tensor:
    return torch.tensor(place, dtype=torch.float64)


@pytest.mark.covers("critical-point")
def test_signs_of_curvatures_tell_minima_saddles_and_maxima() -> None:
    origin = at(0.0, 0.0)
    assert critical_point(lambda v: v[0] ** 2 + v[1] ** 2, origin).kind == "minimum"
    assert critical_point(lambda v: v[0] ** 2 - v[1] ** 2, origin).kind == "saddle"
    assert critical_point(lambda v: -(v[0] ** 2) - v[1] ** 2, origin).kind == "maximum"
    assert critical_point(lambda v: v[0] ** 2, origin).kind == "undecided"


@pytest.mark.covers("second-derivative-test")
def test_a_second_derivative_of_zero_decides_nothing() -> None:
    def quartic(v: Tensor) -> Tensor:
        return v[0] ** 4 + 4 * v[0] ** 3

    assert critical_point(quartic, at(-3.0)).kind == "minimum"
    assert quartic(at(-3.0)).item() == -27
    assert critical_point(quartic, at(0.0)).kind == "undecided"
    assert quartic(at(-0.1)) < 0 < quartic(at(0.1))  # no extremum
    assert (
        critical_point(lambda v: v[0] ** 4, at(0.0)).kind == "undecided"
    )  # though it is a minimum


def test_a_place_with_a_slope_is_no_critical_point() -> None:
    with pytest.raises(ConfigError) as refusal:
        critical_point(lambda v: v.sum(), at(1.0))
    assert str(refusal.value) == "a critical point has gradient 0, got a norm of 1"


@pytest.mark.covers("stationary-convergence")
def test_descent_from_random_starts_ends_flat_and_never_on_a_strict_saddle() -> None:
    starts = torch.randn(1000, 2, generator=generator(0, "starts"), dtype=torch.float64)
    ends = optimizer_path("sgd", SADDLE.gradient, starts, lr=0.1, steps=500)[-1]
    assert SADDLE.gradient(ends).norm(dim=-1).max() < 1e-6
    assert int((ends.norm(dim=-1) < 0.5).sum()) == 0  # the saddle is at the origin


@pytest.mark.covers("steepest-descent")
def test_of_a_thousand_directions_none_beats_the_negative_gradient() -> None:
    verdict = STEEPEST.check()
    assert (verdict.measured, verdict.n) == (0, 1000)


def well(x: Tensor) -> Tensor:  # minima near -1 (the lower) and 1
    return (x.square() - 1).square() / 4 + x / 10


@pytest.mark.covers("spurious-minimum")
def test_the_shallow_of_two_wells_is_a_spurious_minimum() -> None:
    def slope(x: Tensor) -> Tensor:
        return x * (x.square() - 1) + 0.1

    starts = torch.linspace(-2, 2, 40, dtype=torch.float64)
    ends = optimizer_path("sgd", slope, starts, lr=0.1, steps=500)[-1]
    assert all(
        critical_point(lambda v: well(v[0]), at(end)).kind == "minimum" for end in ends.tolist()
    )
    is_spurious = well(ends) > well(ends).min() + 1e-6
    assert torch.equal(is_spurious, ends > 0)
    assert 0 < int(is_spurious.sum()) < 40


@pytest.mark.covers("hand-search-descent")
def test_taking_a_step_only_if_it_is_better_ends_in_the_well_of_the_start() -> None:
    def search(place: float) -> float:
        step = 0.1
        while step > 1e-6:
            tries = [place - step, place + step]
            best = min(tries, key=lambda x: float(well(at(x))))
            if well(at(best)) < well(at(place)):
                place = best
            else:
                step /= 2
        return place

    assert search(-0.5) == pytest.approx(-1.0467, abs=1e-3)
    assert search(0.5) == pytest.approx(0.9456, abs=1e-3)
