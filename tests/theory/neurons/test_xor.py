"""Exclusive or: no line, two units by hand, and how often descent and chance find them."""

import pytest

from netwright.core.errors import ConfigError
from netwright.models.neurons.separability import is_separable
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.neurons.xor import (
    HARD_TO_TRAIN,
    LINEAR,
    RANDOM_LAYER,
    TWO_RELUS,
    best_accuracy_on_grid,
)
from netwright.theory.neurons.xor_networks import CORNERS, OR, XOR

CLAIMS = {"linear": LINEAR, "relus": TWO_RELUS, "hard": HARD_TO_TRAIN, "layer": RANDOM_LAYER}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("xor-not-separable")
def test_no_line_gets_more_than_three_rows() -> None:
    assert not is_separable(CORNERS, 2 * XOR - 1)
    assert best_accuracy_on_grid(XOR, 41) == 0.75
    assert best_accuracy_on_grid(OR, 41) == 1.0


def test_or_is_fitted_by_a_line() -> None:
    verdict = LINEAR.check(exclusive=False)
    assert [finding.holds for finding in verdict.findings] == [False] * 5


@pytest.mark.slow
def test_few_units_learn_it_rarely_and_many_nearly_always() -> None:
    few, many = (finding.measured for finding in HARD_TO_TRAIN.check(size="full").findings)
    assert few == pytest.approx(0.30, abs=0.07)
    assert many == pytest.approx(0.97, abs=0.03)


def test_linear_hidden_units_are_no_help() -> None:
    assert TWO_RELUS.check(relu=False).measured > 0.5


def test_a_line_that_fits_or_is_not_said_to_have_learned_nothing() -> None:
    assert "one half everywhere" in LINEAR.check().chart.caption
    assert "separates" in LINEAR.check(exclusive=False).chart.caption


def test_settings_at_which_the_claims_are_not_meant_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^many must be at least 8, got 4$"):
        HARD_TO_TRAIN.check(many=4)
    with pytest.raises(ConfigError, match=r"^units must be at least 20, got 1$"):
        RANDOM_LAYER.check(units=1)
