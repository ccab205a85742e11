"""Momentum: the limit of its step, the losses in a narrow valley, and the sign that runs away."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.optimizers.momentum import (
    HEAVY_BALL_LIMIT,
    ILL_CONDITIONED,
    NESTEROV_MISPRINT,
    look_back,
    recurrence_losses,
)
from netwright.theory.optimizers.optimizer_path import optimizer_path
from tests.repetition import slow_but

CURVATURES = torch.tensor([1.0, 100.0], dtype=torch.float64)
START = torch.ones(2, dtype=torch.float64)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "claim",
    [HEAVY_BALL_LIMIT, ILL_CONDITIONED, NESTEROV_MISPRINT],
    ids=["heavy-ball-limit", "momentum-ill-conditioned", "nesterov-misprint"],
)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.parametrize(("momentum", "limit"), [(0.9, 10.0), (0.5, 2.0), (0.0, 1.0)])
def test_the_step_tends_to_one_over_one_minus_momentum(momentum: float, limit: float) -> None:
    last, sums = HEAVY_BALL_LIMIT.check(momentum=momentum).findings
    assert last.measured == pytest.approx(limit, abs=1e-6)
    assert sums.measured == 0


def test_the_first_four_steps_are_partial_sums() -> None:
    chart = HEAVY_BALL_LIMIT.check().chart
    steps = next(series for series in chart.series if series.role == "measured")
    assert steps.y[:4] == pytest.approx([1, 1.9, 2.71, 3.439])


def test_steps_of_a_gradient_that_turns_are_alternating_sums() -> None:
    chart = HEAVY_BALL_LIMIT.check(0, "quick", constant_gradient=False).chart
    steps = next(series for series in chart.series if series.role == "measured")
    # 1, then 0.9 - 1, then 0.81 - 0.9 + 1, then 0.729 - 0.81 + 0.9 - 1
    assert steps.y[:4] == pytest.approx([1, -0.1, 0.91, -0.181])


def test_recurrences_by_hand() -> None:
    one = torch.ones(1, dtype=torch.float64)
    # lambda = 2, eta = 0.25, so c = 0.5; beta = 0.5; from w = 1
    places = {
        "sgd": [1, 0.5, 0.25],
        "momentum": [1, 0.5, 0.0],  # v = 2, w = 0.5; v = 1 + 1 = 2, w = 0
        "nesterov": [1, 0.25, -0.0625],  # a = 0.75, b = 0.25: 0.75 / 4 - 0.25
    }
    for name, expected in places.items():
        losses = recurrence_losses(name, 2 * one, one, 0.5 * one, 0.5, 2)
        assert losses == pytest.approx([place**2 for place in expected])


def _path(name: str, **options: Any) -> torch.Tensor:
    return optimizer_path(name, lambda w: CURVATURES * w, START, lr=0.01, steps=200, **options)


@pytest.mark.parametrize(
    ("name", "last"), [("sgd", 9e-3), ("momentum", 1.5e-8), ("nesterov", 3e-11)]
)
def test_losses_in_the_valley_are_those_of_the_recurrences(name: str, last: float) -> None:
    losses = _path(name).square() @ CURVATURES / 2
    assert losses[-1].item() == pytest.approx(last, rel=0.25)
    expected = recurrence_losses(name, CURVATURES, START, 0.01 * CURVATURES, 0.9, 200)
    assert losses.tolist() == pytest.approx(expected, rel=1e-6)


def test_looking_back_by_hand() -> None:
    path = look_back(lambda w: w, torch.tensor([1.0]), lr=0.1, momentum=0.5, steps=2)
    # v = 0.1, w = 0.9; then v = 0.05 + 0.1 (0.9 + 0.05) = 0.145, w = 0.755
    assert path.flatten().tolist() == pytest.approx([1, 0.9, 0.755])


def test_looking_back_runs_away_from_one_over_momentum_minus_one_on() -> None:
    def last(product: float) -> float:
        path = look_back(lambda w: w, torch.ones(1), lr=product, momentum=0.9, steps=500)
        return float(path[-1].abs())

    assert last(0.105) < 1
    assert last(0.117) > 1


def test_the_wrong_sign_ends_above_1e50_where_the_right_one_arrives() -> None:
    ratio, plain = NESTEROV_MISPRINT.check().findings
    assert ratio.measured > 1e50
    assert plain.measured < 0.01
    assert _path("nesterov")[-1].abs().max() < 1e-5


def test_the_right_sign_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_ahead(gradient, start, *, lr, momentum, steps):  # type: ignore[no-untyped-def]
        return optimizer_path("nesterov", gradient, start, lr=lr, steps=steps, momentum=momentum)

    monkeypatch.setattr("netwright.theory.optimizers.momentum.look_back", look_ahead)
    assert NESTEROV_MISPRINT.check().holds


def test_the_limit_is_reached_by_much_momentum_in_enough_steps() -> None:
    assert HEAVY_BALL_LIMIT.check(momentum=0.99, steps=1604).holds


def test_too_few_steps_for_the_limit_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^steps must be at least 1604 for a momentum of 0\.99, got 400$"
    ):
        HEAVY_BALL_LIMIT.check(momentum=0.99)
    with pytest.raises(
        ConfigError, match=r"^steps must be at least 153 for a momentum of 0\.9, got 3$"
    ):
        HEAVY_BALL_LIMIT.check(steps=3)


@pytest.mark.parametrize("momentum", [0.7, 0.9])
@pytest.mark.parametrize("condition", slow_but([100.0], [100.0, 123.4, 1000.0]))
def test_momentum_ends_below_a_thousandth_in_every_narrow_valley(
    condition: float, momentum: float
) -> None:
    assert ILL_CONDITIONED.check(condition=condition, momentum=momentum).holds


def test_a_valley_that_is_not_narrow_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^condition must be at least 100\.0, got 10"):
        ILL_CONDITIONED.check(condition=10)


@pytest.mark.parametrize("steps", [100, 400])
@pytest.mark.parametrize("momentum", [0.6, 0.9])
@pytest.mark.parametrize("condition", slow_but([7.0], [1.0, 7.0, 1e6]))
def test_looking_back_is_refuted_at_all_its_settings(
    condition: float, momentum: float, steps: int
) -> None:
    settings = {"condition": condition, "momentum": momentum, "steps": steps}
    assert not NESTEROV_MISPRINT.check(0, "quick", **settings).holds


def test_momentum_at_which_looking_back_gets_down_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^momentum must be at least 0\.6, got 0\.49$"):
        NESTEROV_MISPRINT.check(momentum=0.49)
    with pytest.raises(ConfigError, match=r"^steps must be at least 100, got 1$"):
        NESTEROV_MISPRINT.check(steps=1)


@pytest.mark.parametrize(
    ("claim", "switch", "only_with_it"),
    [
        (HEAVY_BALL_LIMIT, "constant_gradient", "gain speed"),
        (ILL_CONDITIONED, "ill_conditioned", "the flat one"),
        (NESTEROV_MISPRINT, "usual_step", "larger than the last"),
    ],
)
def test_the_chart_says_what_it_shows_without_the_assumption_too(
    claim: Claim, switch: str, only_with_it: str
) -> None:
    assert only_with_it in claim.check().chart.explanation
    assert only_with_it not in claim.check(0, "quick", **{switch: False}).chart.explanation
