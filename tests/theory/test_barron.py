"""Barron's rate: the constant, the greedy choice, and a function that has none."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory import barron
from netwright.theory.barron import BARRON_RATE, ball_places, barron_constant, greedy_errors


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(BARRON_RATE)


@pytest.mark.covers("barron")
def test_m_times_the_error_is_bounded_and_falls_faster_than_with_fixed_units() -> None:
    verdict = BARRON_RATE.check(seed=1)
    series = {line.role: line for line in verdict.chart.series}
    units, errors = series["measured"].x, series["measured"].y
    assert (units[0], units[-1]) == (4, 256)
    products = [count * error for count, error in zip(units, errors, strict=True)]
    assert max(products) < 4 * products[0]
    assert verdict.findings[1].measured < 0.8
    # Fixed units in five dimensions: m^(-2/5), that is to 19 hundredths from 4 to 256 units.
    assert errors[-1] / errors[0] < 64 ** (-2 / 5)


def test_the_constant_is_the_mean_length_of_a_gaussian_vector() -> None:
    drawn = torch.randn(100_000, 5, generator=generator(0, "length"), dtype=torch.float64) / 0.5
    assert barron_constant(5, 0.5) == pytest.approx(float(drawn.norm(dim=1).mean()), rel=0.01)


def test_places_fill_the_ball_evenly() -> None:
    radii = ball_places(50_000, 3, generator(0, "ball")).norm(dim=1)
    assert float(radii.max()) <= 1
    assert float((radii < 0.5).double().mean()) == pytest.approx(1 / 8, abs=0.01)


def test_the_greedy_choice_finds_the_units_that_made_the_target() -> None:
    units = torch.randn(200, 50, generator=generator(0, "units"), dtype=torch.float64)
    target = 3 * units[:, 7] - 2 * units[:, 21] + 5
    errors = greedy_errors(units, target, 4)
    assert errors[0] > errors[1]
    assert errors[1] < 1e-20


def test_errors_are_those_of_least_squares() -> None:
    rng = generator(0, "least squares")
    units = torch.randn(60, 3, generator=rng, dtype=torch.float64)
    target = torch.randn(60, generator=rng, dtype=torch.float64)
    design = torch.cat([units, torch.ones(60, 1, dtype=torch.float64)], dim=1)
    left = target - design @ torch.linalg.lstsq(design, target[:, None]).solution[:, 0]
    assert greedy_errors(units, target, 3)[-1] == pytest.approx(float(left.square().mean()))


def test_a_choice_that_does_not_look_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(units, target, most):  # type: ignore[no-untyped-def]
        return [float(target.var())] * most

    monkeypatch.setattr(barron, "greedy_errors", blind)
    assert not BARRON_RATE.check().holds
