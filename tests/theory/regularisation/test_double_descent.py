"""Double descent: the medians, the formula, and what a penalty does."""

import math

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.models.linear.least_squares import solve_least_squares
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation import double_descent
from netwright.theory.regularisation.double_descent import (
    DOUBLE_DESCENT,
    DoubleDescentConfig,
    errors_on_fresh_examples,
    expected_error,
)
from tests.repetition import slow_but


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(DOUBLE_DESCENT)


@pytest.mark.slow
@pytest.mark.covers("double-descent")
def test_median_errors_on_both_sides_of_the_peak() -> None:
    random = generator(0, "test")
    tries = [
        errors_on_fresh_examples(DoubleDescentConfig(), [20, 40, 160, 400], random)
        for _ in range(60)
    ]
    few, peak, more, most = torch.tensor(tries).median(dim=0).values.tolist()
    assert few == pytest.approx(2.0, abs=0.2)
    assert peak > 50
    assert more == pytest.approx(1.2, abs=0.1)
    assert most == pytest.approx(0.9, abs=0.1)


def test_a_wrong_formula_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        double_descent, "expected_error", lambda given, size: 1.5 * expected_error(given, size)
    )
    assert not DOUBLE_DESCENT.check().findings[0].holds


@pytest.mark.parametrize("parameters", slow_but([80], [10, 25, 80, 400]))
def test_mean_error_is_that_of_the_formula(parameters: int) -> None:
    given, random = DoubleDescentConfig(noise=0.5), generator(0, "test")
    errors = [errors_on_fresh_examples(given, [parameters], random)[0] for _ in range(100)]
    assert sum(errors) / 100 == pytest.approx(expected_error(given, parameters), rel=0.1)


def test_formula_by_hand_and_without_a_mean_at_the_peak() -> None:
    given = DoubleDescentConfig(examples=40, noise=0.5)
    assert expected_error(given, 20) == pytest.approx(
        41 / 40 * (1 - 19 / 400 + 0.25) * (1 + 19 / 19)
    )
    assert expected_error(given, 400) == pytest.approx(
        41 / 40 * (0.9 + (1 / 400 + 0.25) * (1 + 39 / 359))
    )
    assert [expected_error(given, size) for size in (39, 40, 41)] == [math.inf] * 3


@pytest.mark.covers("overparametrization-insensitivity")
def test_weights_are_most_sensitive_where_parameters_equal_examples() -> None:
    random = torch.Generator().manual_seed(0)
    worst = {}
    for features in (10, 20, 39, 80, 400):
        x = torch.randn(40, features, generator=random, dtype=torch.float64)
        y = torch.randn(40, 1, generator=random, dtype=torch.float64)
        left, sizes, _ = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
        rank = min(39, features)  # one is lost to the bias
        step = left[:, rank - 1 : rank]
        moved = solve_least_squares(x, y + step)[0] - solve_least_squares(x, y)[0]
        worst[features] = float(moved.norm() / step.norm())
        assert worst[features] == pytest.approx(1 / float(sizes[rank - 1]), rel=1e-6)
    assert max(worst, key=worst.__getitem__) == 39
    assert worst[39] > 5 * worst[80] > 5 * worst[400]


def test_too_few_examples_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^examples must be at least 20, got 2$"):
        DOUBLE_DESCENT.check(examples=2)
