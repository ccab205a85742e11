"""Early stopping: descent against ridge, direction by direction."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation.early_stopping import (
    EARLY_STOPPING,
    EarlyStoppingConfig,
    shrinkages,
)
from tests.repetition import for_each


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(EARLY_STOPPING)


@pytest.mark.covers("early-stopping-l2")
def test_descent_and_ridge_agree_in_flat_directions() -> None:
    given = EarlyStoppingConfig()
    curvatures, stopped, ridge = shrinkages(given, generator(0, "test"))
    product = given.lr * given.steps * curvatures
    flat = product <= 0.2
    assert int(flat.sum()) >= 10
    assert float((stopped / ridge - 1).abs()[flat].max()) < 0.1
    torch.testing.assert_close(ridge, product / (1 + product))
    torch.testing.assert_close(stopped, 1 - (1 - given.lr * curvatures) ** given.steps)


def test_the_two_differ_by_thirty_per_cent_at_most() -> None:
    largest = EARLY_STOPPING.check(early=False).measured
    assert largest == pytest.approx(0.3, abs=0.01)  # the largest of (1 + x)(1 - e^-x) / x - 1


@for_each("steps", [1, 2, 3, 2000])
def test_they_agree_after_any_number_of_steps(steps: int) -> None:
    assert EARLY_STOPPING.check(steps=steps).holds


def test_they_agree_in_two_directions_and_with_steps_of_one() -> None:
    assert EARLY_STOPPING.check(features=2, examples=3).holds
    assert EARLY_STOPPING.check(lr=1.0).holds


@for_each(
    ("settings", "sentence"),
    [
        ({"features": 150}, "examples must be more than features, 150, got 100"),
        ({"features": 1}, "features must be at least 2, got 1"),
        ({"lr": 1e6}, "lr must be at most 1.0, got 1000000.0"),
        (
            {"lr": 1.0, "steps": 3000},
            "lr times steps must be at most 2000, so that the flattest direction is stopped early, "
            "got 3000",
        ),
    ],
    ids=["rank", "one", "rate", "late"],
)
def test_settings_that_cannot_be_compared_are_refused(
    settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        EARLY_STOPPING.check(**settings)
    assert str(refusal.value) == sentence
