"""Rates of descent: every bound at every step, the inequalities behind them, and broken steps."""

import pytest
import torch
from torch.nn.functional import softplus

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.gradient_descent.descent_rates import (
    CONVEX_RATE,
    CRITICAL_POINT,
    POLYAK_LOJASIEWICZ,
    SUFFICIENT_DECREASE,
    gradient_of,
    pseudo_huber,
    random_inputs,
    smallest_curvature,
)
from netwright.theory.optimizers.optimizer_path import optimizer_path
from tests.repetition import for_each

CLAIMS = [SUFFICIENT_DECREASE, CRITICAL_POINT, POLYAK_LOJASIEWICZ, CONVEX_RATE]
NAMES = ["sufficient-decrease", "critical-point", "polyak-lojasiewicz", "convex-rate"]


@pytest.mark.covers("gd-smooth-rate")
@pytest.mark.covers("pl-linear-rate")
@pytest.mark.covers("convex-gd-rate")
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", CLAIMS, ids=NAMES)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def _logistic(curvature: float):  # type: ignore[no-untyped-def]
    rng = generator(0, "test")
    inputs = random_inputs(5, 10, 4 * curvature, rng)

    def loss(weights: torch.Tensor) -> torch.Tensor:
        return softplus(-torch.einsum("pnd,...pd->...pn", inputs, weights)).mean(-1)

    return loss, inputs


@pytest.mark.covers("descent-lemma")
@for_each("product", [0.5, 1.0, 1.5, 1.9])
def test_every_step_below_two_over_the_curvature_decreases_the_loss(product: float) -> None:
    loss, _ = _logistic(curvature=4.0)
    gradient, rate = gradient_of(loss), product / 4.0
    start = 3 * torch.randn(5, 10, generator=generator(0, "start"), dtype=torch.float64)
    path = optimizer_path("sgd", gradient, start, lr=rate, steps=100)
    decrease = -loss(path).diff(dim=0)
    promised = rate * (1 - 4.0 * rate / 2) * gradient(path[:-1]).square().sum(-1)
    assert (decrease > 0).all()
    assert (decrease >= promised - 1e-14).all()


@pytest.mark.covers("l-smoothness")
def test_the_curvature_bounds_how_fast_gradients_change() -> None:
    loss, inputs = _logistic(curvature=4.0)
    norm = torch.linalg.matrix_norm(inputs, ord=2).square()
    assert torch.allclose(norm / (4 * inputs.shape[1]), torch.full_like(norm, 4.0))
    gradient, rng = gradient_of(loss), generator(0, "pairs")
    left, right = torch.randn(2, 200, 5, 10, generator=rng, dtype=torch.float64)
    change = (gradient(left) - gradient(right)).norm(dim=-1)
    assert (change <= 4.0 * (left - right).norm(dim=-1)).all()
    # A quadratic reaches its bound, along its steepest eigenvector.
    hessian = inputs[0].mT @ inputs[0]
    values, vectors = torch.linalg.eigh(hessian)
    assert (hessian @ vectors[:, -1]).norm() == pytest.approx(values[-1].item())
    pairs = (left - right)[:, 0]
    assert ((pairs @ hessian).norm(dim=-1) <= values[-1] * pairs.norm(dim=-1)).all()


@pytest.mark.covers("pl-inequality")
def test_the_gradient_tells_the_gap_of_least_squares_and_of_a_loss_that_is_not_convex() -> None:
    rng = generator(0, "inputs")
    inputs = random_inputs(3, 5, 4.0, rng)
    eigenvalues = torch.linalg.eigvalsh(inputs.mT @ inputs / inputs.shape[1])
    smallest = smallest_curvature(inputs, 5)
    assert torch.allclose(smallest, eigenvalues[:, 5])
    assert (eigenvalues[:, 4].abs() < 1e-12).all()

    def loss(weights: torch.Tensor) -> torch.Tensor:
        return torch.einsum("pnd,...pd->...pn", inputs, weights).square().mean(-1) / 2

    weights = torch.randn(500, 3, 10, generator=rng, dtype=torch.float64)
    steepness = gradient_of(loss)(weights).square().sum(-1) / 2
    assert (steepness >= smallest * loss(weights) * (1 - 1e-9)).all()

    x = torch.linspace(-10, 10, 20_000, dtype=torch.float64)  # 0 is not among them
    slope = 2 * x + 3 * (2 * x).sin()
    ratio = slope.square() / (2 * (x.square() + 3 * x.sin().square()))
    assert ratio.min().item() == pytest.approx(0.175, abs=1e-3)
    assert ratio.min() >= 1 / 32
    assert (2 + 6 * (2 * x).cos()).min() < 0  # its curvature is negative in places


@pytest.mark.covers("strong-convexity")
def test_the_gap_falls_by_a_factor_if_strongly_convex_and_as_a_power_if_not() -> None:
    curvatures = torch.linspace(0.5, 4.0, 8, dtype=torch.float64)
    start = torch.ones(8, dtype=torch.float64)
    path = optimizer_path("sgd", lambda x: curvatures * x, start, lr=0.25, steps=50)
    gaps = path.square() @ curvatures / 2
    assert (gaps[1:] / gaps[:-1] <= 1 - 0.5 / 4).all()
    # x^4 / 12 is flat at its minimum: its curvature there is 0.
    flat = optimizer_path("sgd", lambda x: x**3 / 3, start[:1], lr=1.0, steps=4000)[:, 0] ** 4 / 12
    k = torch.tensor([500, 1000, 2000, 4000])
    halving = (flat[k][1:] / flat[k][:-1]).log2()
    assert torch.allclose(halving, torch.full_like(halving, -2.0), atol=0.02)  # k^-2, no factor


def test_pseudo_huber_bends_at_most_as_the_square_and_is_straight_far_away() -> None:
    x = torch.tensor([0.0, 1e-4, 1e6], dtype=torch.float64)
    assert pseudo_huber(x).tolist() == pytest.approx([0, 5e-9, 1e6 - 1], rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("claim", CLAIMS[::-1][:2], ids=NAMES[::-1][:2])
def test_a_step_up_the_gradient_turns_the_verdict(
    claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    def climb(name, gradient, start, **rest):  # type: ignore[no-untyped-def]
        return optimizer_path(name, lambda x: -gradient(x), start, **rest)

    monkeypatch.setattr("netwright.theory.gradient_descent.descent_rates.optimizer_path", climb)
    assert not claim.check().holds


@for_each("claim", CLAIMS, ids=NAMES)
def test_bounds_hold_from_the_first_step_and_the_chart_owns_up_to_a_broken_one(
    claim: Claim,
) -> None:
    assert claim.check(steps=1).holds
    broken = claim.check(short_step=False).chart.explanation
    assert broken == "With an assumption off, the promise need not be kept."
    with pytest.raises(ConfigError, match=r"^steps must be at most 1000, got 100000$"):
        claim.check(steps=100_000)
