"""Squared error and noise: the claims, least absolute deviations, and the shift by its formula."""

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.linear_models.likelihood import (
    GAUSSIAN_NOISE,
    OUTLIERS,
    least_absolute_deviations,
    least_squares,
    most_likely_normal,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_outliers_keep_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(OUTLIERS)


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_gaussian_noise_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(GAUSSIAN_NOISE)


def line(rows: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, 1, generator=numbers, dtype=torch.float64)
    return x, 2 * x[:, 0] + 0.1 * torch.randn(rows, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("squared-loss-outliers")
def test_one_outlier_moves_the_slope_of_squares_more_than_ten_times_as_far() -> None:
    x, y = line(50)
    more_x = torch.cat((x, torch.ones(1, 1, dtype=torch.float64)))
    more_y = torch.cat((y, torch.tensor([2.0 + 100.0], dtype=torch.float64)))
    shifts = [
        abs(float(fit(more_x, more_y)[0] - fit(x, y)[0]))
        for fit in (least_squares, least_absolute_deviations)
    ]
    assert shifts[0] > 10 * shifts[1]
    assert shifts[0] > 9


def test_least_absolute_deviations_of_a_constant_are_at_the_median() -> None:
    y = torch.tensor([1.0, 2.0, 3.0, 50.0, 1000.0], dtype=torch.float64)
    slope, bias = least_absolute_deviations(torch.zeros(5, 1, dtype=torch.float64), y)
    assert bias.item() == pytest.approx(3.0)
    assert slope.item() == pytest.approx(0.0, abs=1e-9)


def test_no_line_near_by_has_a_smaller_absolute_error() -> None:
    x, y = line(30)
    best = least_absolute_deviations(x, y)

    def error(theta: Tensor) -> float:
        return float((y - x[:, 0] * theta[0] - theta[1]).abs().sum())

    for step in np.random.default_rng(0).normal(size=(100, 2)):
        assert error(best + 0.01 * torch.from_numpy(step)) >= error(best) - 1e-9


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_likelihood_finds_the_weights_of_least_squares(sigma: float) -> None:
    x, y = line(40)
    found = most_likely_normal(x, y, sigma)
    torch.testing.assert_close(found, least_squares(x, y), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_full_size_measures_the_shift_of_the_slope() -> None:
    ratio, shift = OUTLIERS.check(size="full").findings
    assert ratio.n == shift.n == 100
    assert shift.measured == pytest.approx(11.5, rel=0.05)


def test_a_wrong_likelihood_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "netwright.theory.linear_models.likelihood.most_likely_normal",
        lambda x, y, sigma: most_likely_normal(x, y, sigma) * (1 + 1e-4 * sigma),
    )
    assert not GAUSSIAN_NOISE.check().holds


@pytest.mark.parametrize(("examples", "inputs"), [(4, 1), (8, 3), (40, 19)])
def test_few_examples_are_enough_for_the_likelihood(examples: int, inputs: int) -> None:
    assert GAUSSIAN_NOISE.check(examples=examples, inputs=inputs).holds


def test_fewer_examples_than_tell_the_weights_are_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^examples must be at least 8, twice the weights and the bias, got 3$",
    ):
        GAUSSIAN_NOISE.check(examples=3)


def test_an_outlier_holds_from_where_it_stands_out_and_is_refused_below() -> None:
    assert OUTLIERS.check(examples=20, height=50).holds
    with pytest.raises(
        ConfigError, match=r"^height must be at least 500 times the noise of 0\.1, got 3$"
    ):
        OUTLIERS.check(height=3)
