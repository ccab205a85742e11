"""Penalties on the weights: priors and zeros, against scikit-learn and by hand."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Lasso, Ridge

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.models.linear.least_squares import solve_least_squares
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation import weight_penalties
from netwright.theory.regularisation.weight_penalties import (
    GAUSSIAN_PRIOR,
    L1_ZEROS,
    GaussianPriorConfig,
    ZerosConfig,
    fit_lasso,
    most_probable_weights,
    regression,
    subgradient_weights,
)

CLAIMS = {"prior": GAUSSIAN_PRIOR, "zeros": L1_ZEROS}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("gaussian-prior-equivalence")
def test_mode_of_the_posterior_is_ridge_and_scikit_learns() -> None:
    sigma, tau = 0.5, 0.2
    given = GaussianPriorConfig(noise=sigma, features=4)
    x, y = regression(30, torch.ones(4, dtype=torch.float64), sigma, generator(0, "test"))
    found = most_probable_weights(given, x[None], y.T, torch.tensor([tau], dtype=torch.float64))
    ridge, _ = solve_least_squares(x, y, l2=(sigma / tau) ** 2 / 30)
    torch.testing.assert_close(found, ridge, rtol=0, atol=1e-10)
    peer = Ridge(alpha=sigma**2 / tau**2).fit(x.numpy(), y.squeeze(1).numpy())
    np.testing.assert_allclose(found[0].numpy(), peer.coef_, atol=1e-10)


def test_a_penalty_twice_as_large_is_another_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(x, y, l2=0.0):  # type: ignore[no-untyped-def]
        return solve_least_squares(x, y, l2=2 * l2)

    monkeypatch.setattr(weight_penalties, "solve_least_squares", doubled)
    assert not GAUSSIAN_PRIOR.check().holds


@pytest.mark.covers("l1-lasso")
def test_l1_leaves_ten_of_a_hundred_features_and_l2_all() -> None:
    given = ZerosConfig()
    truth = (torch.arange(100) < 10).double()
    x, y = regression(200, truth, given.noise, generator(0, "test"))
    weights = fit_lasso(given.penalty, x, y).affine.weight.detach()
    assert int((weights == 0).sum()) >= 80
    assert (weights[0, :10] != 0).all()
    assert (solve_least_squares(x, y, l2=given.penalty)[0] != 0).all()
    peer = Lasso(alpha=given.penalty, tol=1e-10).fit(x.numpy(), y.numpy())
    np.testing.assert_allclose(weights[0].numpy(), peer.coef_, atol=1e-3)


@pytest.mark.covers("l1-vs-l2")
def test_orthonormal_inputs_are_thresholded_by_l1_and_scaled_by_l2() -> None:
    random = generator(0, "orthonormal")
    raw = torch.randn(40, 8, generator=random, dtype=torch.float64)
    q, _ = torch.linalg.qr(raw - raw.mean(dim=0))
    x = q * 40**0.5  # X^T X = n I, and no mean
    y = torch.randn(40, 1, generator=random, dtype=torch.float64)
    least = (x.T @ y / 40).squeeze(1)
    soft = least.sign() * (least.abs() - 0.1).clamp(min=0)
    lasso = fit_lasso(0.1, x, y).affine.weight.detach()[0]
    torch.testing.assert_close(lasso, soft, rtol=0, atol=1e-12)
    assert 0 < int((lasso == 0).sum()) < 8
    ridge = solve_least_squares(x, y, l2=0.1)[0][0]
    torch.testing.assert_close(ridge, least / 1.1, rtol=0, atol=1e-12)


def test_subgradient_steps_come_near_the_lasso_without_zeros() -> None:
    x, y = regression(200, (torch.arange(20) < 5).double(), 1.0, generator(0, "test"))
    jumping = subgradient_weights(0.15, x - x.mean(dim=0), y - y.mean())
    lasso = fit_lasso(0.15, x, y).affine.weight.detach()[0]
    assert (jumping != 0).all()
    assert float((jumping - lasso).abs().max()) < 0.01


def test_zeros_are_counted_among_idle_features() -> None:
    assert L1_ZEROS.check(relevant=30).holds


def test_settings_without_idle_features_or_with_too_small_a_penalty_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^relevant must be at most features - 20 = 80, got 100$"
    ):
        L1_ZEROS.check(relevant=100)
    with pytest.raises(
        ConfigError,
        match=r"^penalty must be at least 0.115 for so few examples and so much noise, got 0.05$",
    ):
        L1_ZEROS.check(penalty=0.05)
