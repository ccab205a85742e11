"""What a Hopfield network holds: the contracts of the claims, and the numbers at full size."""

import math
from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.inspection.training.claim_chart import ClaimChart
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.memories.hopfield_capacity import (
    BIT_ERROR,
    CAPACITY,
    CAPACITY_BIAS,
    COLLAPSE,
    bit_error,
    perfect_share,
    retrieved_overlap,
)
from tests.repetition import for_each
from tests.theory.costly import COSTLY_CLAIM_CHECKS


def dots(chart: ClaimChart) -> dict[float, float]:
    (series,) = [series for series in chart.series if series.role == "measured"]
    return dict(zip(series.x, series.y, strict=True))


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [BIT_ERROR, CAPACITY], ids=["bit-error", "capacity"])
def test_keeps_the_claim_contract(claim: Any, check: Any) -> None:
    check(claim)


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_the_collapse_keeps_the_claim_contract(check: Any) -> None:
    check(COLLAPSE)


def test_formulas_give_the_known_numbers() -> None:
    assert bit_error(0.1) == pytest.approx(7.8e-4, rel=0.01)
    assert bit_error(0.138) == pytest.approx(3.55e-3, rel=0.01)
    assert bit_error(0.2) == pytest.approx(1.27e-2, rel=0.01)
    assert retrieved_overlap(0.10) == pytest.approx(0.998, abs=5e-4)
    assert retrieved_overlap(0.137) > 0.97
    assert retrieved_overlap(0.139) == pytest.approx(0.0, abs=1e-6)
    assert perfect_share(72, 1000) == pytest.approx(0.908, abs=1e-3)


@pytest.mark.slow
@pytest.mark.covers("hopfield-error-probability")
def test_share_of_lost_bits_at_full_size() -> None:
    shares = dots(BIT_ERROR.check(size="full").chart)
    assert shares[0.138] == pytest.approx(0.00355, abs=0.0008)
    assert shares[0.2] == pytest.approx(0.01267, abs=0.0008)


@pytest.mark.covers("hopfield-capacity-bound")
def test_share_of_perfect_patterns() -> None:
    verdict = CAPACITY.check()
    assert verdict.holds
    shares = dots(verdict.chart)
    assert shares[36] == pytest.approx(1.0, abs=0.01)
    assert shares[50] >= 0.99
    assert shares[72] == pytest.approx(0.911, abs=0.04)


@pytest.mark.slow
def test_share_of_perfect_patterns_at_full_size() -> None:
    shares = dots(CAPACITY.check(size="full").chart)
    assert list(shares.values()) == pytest.approx([1.0, 0.996, 0.911], abs=0.02)


@pytest.mark.slow
@pytest.mark.covers("hopfield-phase-transition")
def test_overlaps_on_both_sides_of_the_collapse_at_full_size() -> None:
    overlaps = dots(COLLAPSE.check(size="full").chart)
    assert overlaps[0.10] == pytest.approx(0.998, abs=0.01)
    assert overlaps[0.13] == pytest.approx(0.990, abs=0.015)
    assert overlaps[0.138] == pytest.approx(0.967, abs=0.05)
    assert overlaps[0.15] == pytest.approx(0.84, abs=0.05)
    assert overlaps[0.17] < 0.75
    assert overlaps[0.20] < 0.5


@for_each("units", [50, 100, 200, 500])
@for_each("claim", [BIT_ERROR, CAPACITY], ids=["bit-error", "capacity"])
def test_fewer_units_have_a_wider_tolerance(claim: Any, units: int) -> None:
    assert claim.check(units=units).holds


@pytest.mark.slow
def test_tolerance_of_a_thousand_units_is_narrow() -> None:
    assert all(finding.within <= 0.0008 for finding in BIT_ERROR.check().findings)


def test_shares_may_be_off_by_the_bias_and_three_standard_errors() -> None:
    for finding in CAPACITY.check(0, "quick", units=50).findings:
        error = math.sqrt(finding.predicted * (1 - finding.predicted) / finding.n)
        assert finding.within == pytest.approx(CAPACITY_BIAS / math.sqrt(50) + 3 * error)


@pytest.mark.slow
def test_no_overlap_is_said_to_lie_beyond_one() -> None:
    verdict = COLLAPSE.check()
    assert verdict.holds
    findings = verdict.findings
    assert all(finding.n >= 5 for finding in findings)
    assert all(finding.interval and finding.interval[1] <= 1 for finding in findings)


@pytest.mark.parametrize(
    ("claim", "least"),
    [(BIT_ERROR, 50), (CAPACITY, 50), (COLLAPSE, 800)],
    ids=["bits", "perfect", "collapse"],
)
def test_too_few_units_are_refused(claim: Any, least: int) -> None:
    with pytest.raises(ConfigError, match=f"^units must be at least {least}, got 3$"):
        claim.check(units=3)
