"""Saddles: Newton's step onto them, descent away from them, and how rare minima are."""

import math

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.gradient_descent.saddles import (
    NEWTON_SADDLE,
    POSITIVE_SHARES,
    SADDLES_OUTNUMBER,
    newton_step,
    random_hessians,
)
from netwright.theory.optimizers.optimizer_path import optimizer_path

START = torch.tensor([1.0, 0.1], dtype=torch.float64)


def saddle(x: Tensor) -> Tensor:
    return x[0].square() - x[1].square()


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [NEWTON_SADDLE, SADDLES_OUTNUMBER], ids=["newton", "outnumber"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("second-order-methods")
def test_newton_solves_a_quadratic_and_a_saddle_in_one_step_and_descent_leaves_it() -> None:
    assert newton_step(lambda x: (x - 3).square() @ torch.tensor([1.0, 50.0]).double(), START) == (
        pytest.approx([3, 3])
    )
    assert newton_step(saddle, START).tolist() == pytest.approx([0, 0], abs=1e-15)
    path = optimizer_path("sgd", torch.func.grad(saddle), START, lr=0.1, steps=50)
    assert path[-1, 0].abs() < 1e-4
    assert path[-1, 1] > 100


def test_without_signs_newton_leaves_the_saddle() -> None:
    assert newton_step(saddle, START, signed=False).tolist() == pytest.approx([0, 0.2], abs=1e-15)


def test_a_saddle_that_is_no_quadratic_still_draws_newton() -> None:
    place = torch.tensor([0.2, 0.1], dtype=torch.float64)
    for _ in range(6):
        place = newton_step(lambda x: x[0].square() - x[1].square() + x[1] ** 4, place)
    assert place.norm() < 1e-12


def test_random_hessians_have_the_given_eigenvalues() -> None:
    curvatures = torch.tensor([-2.0, 0.5, 3.0], dtype=torch.float64)
    hessians = random_hessians(10, curvatures, generator(0, "test"))
    assert torch.allclose(torch.linalg.eigvalsh(hessians), curvatures.expand(10, 3))


@pytest.mark.covers("saddle-points")
def test_shares_of_minima_fall_faster_than_coins() -> None:
    shares = {}
    for finding in SADDLES_OUTNUMBER.check().findings:
        shares[int(finding.what[-1])] = finding.measured
    measured = [0.49, 0.146, 0.025, 0.003, 0.0003]
    assert list(shares.values()) == pytest.approx(measured, rel=0.1, abs=1e-3)
    assert all(shares[size] < 2.0**-size for size in (2, 3, 4, 5))


def test_the_share_for_two_dimensions_is_a_cone_of_matrices() -> None:
    # (a, b sqrt 2, c) is normal in all directions; a c > b^2, a > 0 is a cone around (1, 0, 1)
    # with the half angle 45 degrees: its share of the sphere is (1 - cos 45) / 2.
    assert POSITIVE_SHARES[2] == pytest.approx((1 - math.cos(math.pi / 4)) / 2)


def test_hessians_without_negative_entries_turn_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = torch.linalg.cholesky_ex
    monkeypatch.setattr(torch.linalg, "cholesky_ex", lambda hessians: real(hessians.abs()))
    assert not SADDLES_OUTNUMBER.check().holds


@pytest.mark.covers("sgd-exploration")
def test_noise_leaves_the_saddle_on_which_descent_stays() -> None:
    rng = generator(0, "noise")

    def gradient(x: Tensor) -> Tensor:  # of x^2 - y^2 + y^4
        return torch.stack([2 * x[:, 0], -2 * x[:, 1] + 4 * x[:, 1] ** 3], -1)

    start = torch.zeros(200, 2)
    calm = optimizer_path("sgd", gradient, start, lr=0.05, steps=200)
    noisy = optimizer_path(
        "sgd",
        lambda x: gradient(x) + 0.1 * torch.randn(x.shape, generator=rng),
        start,
        lr=0.05,
        steps=200,
    )
    assert (calm == 0).all()
    assert ((noisy[-1, :, 1].abs() - 0.5**0.5).abs() < 0.2).float().mean() > 0.95


def test_the_chart_of_a_minimum_speaks_of_no_saddle() -> None:
    chart = NEWTON_SADDLE.check(saddle=False).chart
    assert "saddle" not in chart.explanation + chart.y_label
    assert "leaves along y, as descent" in NEWTON_SADDLE.check(signed=False).chart.explanation


def test_many_dimensions_hold_and_too_many_are_refused() -> None:
    assert NEWTON_SADDLE.check(dimensions=50).holds
    with pytest.raises(ConfigError, match=r"^dimensions must be at most 50, got 51$"):
        NEWTON_SADDLE.check(dimensions=51)


def test_shares_of_minima_may_be_off_by_four_standard_errors() -> None:
    findings = SADDLES_OUTNUMBER.check(0, "quick").findings
    exact = [finding for finding in findings if finding.within]
    assert [finding.predicted for finding in exact] == list(POSITIVE_SHARES.values())
    for finding in exact:
        error = math.sqrt(finding.predicted * (1 - finding.predicted) / finding.n)
        assert finding.within == pytest.approx(4 * error)
