"""Barron's rate: the constant, the greedy choice, and a function that has none."""

import math

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.approximation import barron
from netwright.theory.approximation.barron import (
    BARRON_RATE,
    BarronConfig,
    ball_places,
    barron_constant,
    greedy_errors,
    opposite_bumps,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(BARRON_RATE)


@pytest.mark.slow
@pytest.mark.covers("barron")
def test_m_times_the_error_is_bounded_and_falls_faster_than_with_fixed_units() -> None:
    verdict = BARRON_RATE.check(seed=1)
    series = {line.role: line for line in verdict.chart.series}
    units, errors = series["measured"].x, series["measured"].y
    assert (units[0], units[-1]) == (4, 256)
    products = [count * error for count, error in zip(units, errors, strict=True)]
    most = (2 * barron_constant(3, 1.5)) ** 2
    assert max(products) < most
    assert series["predicted"].y[-1] == pytest.approx(most / 256)
    assert verdict.findings[1].measured < -1
    # Fixed units in three dimensions: m^(-2/3), that is to a sixteenth from 4 to 256 units.
    assert errors[-1] / errors[0] < 64 ** (-2 / 3)


@pytest.mark.slow
def test_the_chart_draws_fixed_units_from_the_first_dot_at_their_rate() -> None:
    _, fixed, greedy = BARRON_RATE.check(0, "quick").chart.series
    assert fixed.y[0] == greedy.y[0]
    expected = (fixed.x[-1] / fixed.x[0]) ** (-2 / BarronConfig().inputs)
    assert fixed.y[-1] / fixed.y[0] == pytest.approx(expected)


def test_the_bound_falls_below_the_spread_of_the_target() -> None:
    rng = generator(0, "spread")
    spread = float(opposite_bumps(ball_places(5000, 3, rng), 1.5, rng).var())
    assert (2 * barron_constant(3, 1.5)) ** 2 / 256 < spread / 3


@pytest.mark.parametrize(
    ("inputs", "bump"),
    [
        pytest.param(1, 1.0, marks=pytest.mark.slow),
        pytest.param(5, 1.0, marks=pytest.mark.slow),
        (5, 2.0),
    ],
)
def test_the_rate_does_not_ask_for_the_number_of_inputs(inputs: int, bump: float) -> None:
    assert BARRON_RATE.check(inputs=inputs, bump=bump).holds


def test_inputs_and_bumps_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^inputs must be at most 5, got 400$"):
        BARRON_RATE.check(inputs=400)
    with pytest.raises(ConfigError, match=r"^bump must be at least 1.0, got 1e-06$"):
        BARRON_RATE.check(bump=1e-6)


@pytest.mark.parametrize("bump", [1.0, 1.5])
def test_the_constant_is_the_moment_of_the_spectrum(bump: float) -> None:
    w = torch.linspace(-12, 12, 200_001, dtype=torch.float64) / bump
    density = (-(w * bump).square() / 2).exp() * bump / math.sqrt(2 * math.pi)
    moment = torch.trapezoid(density * w.abs() * 2 * w.sin().abs(), w)
    assert barron_constant(1, bump) == pytest.approx(float(moment), rel=0.01)


def test_places_fill_the_ball_evenly() -> None:
    radii = ball_places(50_000, 3, generator(0, "ball")).norm(dim=1)
    assert float(radii.max()) <= 1
    assert float((radii < 0.5).double().mean()) == pytest.approx(1 / 8, abs=0.01)


def test_the_greedy_choice_finds_the_units_that_made_the_target() -> None:
    units = torch.randn(200, 50, generator=generator(0, "units"), dtype=torch.float64)
    target = 3 * units[:, 7] - 2 * units[:, 21] + 5
    errors = greedy_errors(units, target, 4)
    assert errors[0] > errors[1]
    assert errors[1] < 1e-12
    assert errors[3] < 1e-12


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
