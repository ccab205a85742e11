"""The step size: the losses on both sides of 2 / L, and a function that does not run away."""

import math

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.gradient_descent.step_size import STEP_SIZE, descend


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(STEP_SIZE)


def test_losses_on_both_sides_of_two_over_the_curvature() -> None:
    curvatures = torch.tensor([1.0, 100.0], dtype=torch.float64)
    start = torch.ones(2, dtype=torch.float64)
    losses = [
        float(curvatures @ descend(lambda x: curvatures * x, start, rate, 300).square() / 2)
        for rate in (0.019, 0.02, 0.021)
    ]
    assert losses[0] == pytest.approx(5e-6, rel=0.02)
    assert losses[1] == pytest.approx(50, rel=0.02)
    assert losses[2] == pytest.approx(3e26, rel=0.2)


def test_the_closed_form_is_what_gradient_descent_does() -> None:
    formula, descent = STEP_SIZE.check(0, "quick").chart.series
    assert formula.x == descent.x
    assert formula.y == pytest.approx(descent.y, rel=1e-6)


def test_a_wrong_gradient_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_a_step(gradient, start, rate, steps):  # type: ignore[no-untyped-def]
        return descend(gradient, start, rate / 2, steps)

    monkeypatch.setattr("netwright.theory.gradient_descent.step_size.descend", half_a_step)
    assert not STEP_SIZE.check().holds


def test_steps_that_overflow_have_run_away() -> None:
    verdict = STEP_SIZE.check(steps=3000)
    assert verdict.holds
    assert math.inf in verdict.chart.series[1].y
    assert not any(math.isnan(value) for value in verdict.chart.series[1].y)


@pytest.mark.parametrize("curvature", [1.0, 1.5, 1e9])
def test_any_largest_curvature_has_its_two_over_l(curvature: float) -> None:
    assert STEP_SIZE.check(size="full", curvature=curvature, steps=50).holds


def test_a_largest_curvature_below_the_smallest_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^curvature must be at least 1.0, got 0.5$"):
        STEP_SIZE.check(curvature=0.5)


def test_without_the_quadratic_the_chart_does_not_speak_of_running_away() -> None:
    assert "without bound" in STEP_SIZE.check().chart.explanation
    assert "without bound" not in STEP_SIZE.check(quadratic=False).chart.explanation
