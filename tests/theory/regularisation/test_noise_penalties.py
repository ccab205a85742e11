"""Noise as a penalty: all masks of dropout summed, and noisy copies against ridge."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.models.linear.least_squares import solve_least_squares
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation import noise_penalties
from netwright.theory.regularisation.noise_penalties import (
    DROPOUT_L2,
    INPUT_NOISE,
    DropoutConfig,
    InputNoiseConfig,
    expected_errors,
    factors_and_odds,
    penalty,
    weights_from_copies,
)


@pytest.mark.parametrize("claim", [DROPOUT_L2, INPUT_NOISE], ids=["dropout", "input-noise"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def row(*values: float) -> torch.Tensor:
    return torch.tensor([values], dtype=torch.float64)


def test_two_features_by_hand() -> None:
    given = DropoutConfig(features=2)
    # w h = (1, 2), doubled where kept: outputs 0, 2, 4, 6 against the target 3.
    found = expected_errors(given, 0.5, row(1, 1), row(1, 2), torch.tensor([3.0]).double())
    assert float(found) == (9 + 1 + 1 + 9) / 4
    assert float(penalty(row(1, 1), row(1, 2), 0.5)) == 5  # and (3 - 3)^2 = 0 without dropout


def test_masks_are_all_there_with_their_odds() -> None:
    factors, odds = factors_and_odds(DropoutConfig(features=3), 0.25)
    assert len({tuple(mask) for mask in factors.tolist()}) == 8
    assert float(odds.sum()) == pytest.approx(1)
    assert (odds @ factors).tolist() == pytest.approx([1, 1, 1])


@pytest.mark.covers("dropout-adaptive-l2")
def test_descent_on_the_expected_loss_finds_ridge() -> None:
    given = DropoutConfig(features=8, keep=0.7)
    assert DROPOUT_L2.check(features=8, keep=0.7).holds
    random = torch.Generator().manual_seed(0)
    x = torch.randn(20, 8, generator=random, dtype=torch.float64)
    y = torch.randn(20, generator=random, dtype=torch.float64)
    weights = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    for _ in range(600):
        loss = expected_errors(given, 0.7, weights.expand(20, 8), x, y).mean()
        (slope,) = torch.autograd.grad(loss, weights)
        weights = (weights - 0.2 * slope).detach().requires_grad_()
    ridge = x.T @ x + 0.3 / 0.7 * x.square().sum(dim=0).diag()
    torch.testing.assert_close(weights.detach(), torch.linalg.solve(ridge, x.T @ y))


@pytest.mark.covers("gaussian-noise-ridge")
def test_noisy_copies_give_the_weights_of_ridge_within_one_per_cent() -> None:
    given = InputNoiseConfig(copies=4000)
    random = torch.Generator().manual_seed(0)
    x = torch.randn(40, 5, generator=random, dtype=torch.float64)
    y = 1.2 * x.sum(dim=1, keepdim=True)
    found, errors = weights_from_copies(given, x, y, 0.5, random)
    centred = x - x.mean(dim=0)
    ridge = centred.T @ centred + 40 * 0.25 * torch.eye(5, dtype=torch.float64)
    wanted = torch.linalg.solve(ridge, centred.T @ (y - y.mean())).squeeze(1)
    assert float((found - wanted).abs().max() / wanted.abs().max()) < 0.01
    assert errors.max() < 0.01


def test_standard_errors_are_those_of_textbooks() -> None:
    given = InputNoiseConfig(copies=1, features=2)
    random = torch.Generator().manual_seed(1)
    x = torch.randn(4000, 2, generator=random, dtype=torch.float64)
    y = x.sum(dim=1, keepdim=True) + torch.randn(4000, 1, generator=random, dtype=torch.float64)
    _, errors = weights_from_copies(given, x, y, 1e-9, random)
    assert errors.tolist() == pytest.approx([4000**-0.5] * 2, rel=0.1)


@pytest.mark.parametrize("copies", [50, 400])
def test_verdict_does_not_hang_on_the_number_of_copies(copies: int) -> None:
    assert INPUT_NOISE.check(copies=copies).holds


def test_another_penalty_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(x, y, l2=0.0, **rest):  # type: ignore[no-untyped-def]
        return solve_least_squares(x, y, l2=2 * l2, **rest)

    monkeypatch.setattr(noise_penalties, "solve_least_squares", doubled)
    assert not INPUT_NOISE.check().holds


def test_more_masks_than_fit_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^features must be at most 12, got 30$"):
        DROPOUT_L2.check(features=30)


def test_more_noisy_rows_than_fit_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^examples times copies must be at most 400000, got 1000 times 4000$"
    ):
        INPUT_NOISE.check(examples=1000)


def test_the_chart_of_shared_masks_counts_those() -> None:
    _, found = DROPOUT_L2.check(independent=False).chart.series
    assert found.name == "mean over all 16 masks"
