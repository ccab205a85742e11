"""Wide minima: the wells by hand, the chain beside the runs, and equal wells."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.theory.gradient_descent.wide_minima import WIDE_MINIMA, expected_shares, wells
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(WIDE_MINIMA)


def test_wells_by_hand() -> None:
    slope, wide = wells(torch.tensor([-2.0, 1.0, 1.5, 2.0]), 25.0)
    assert slope.tolist() == [0.0, 3.0, -12.5, 0.0]
    assert wide.tolist() == [True, True, False, False]


@pytest.mark.covers("sgd-wide-minima")
def test_most_noisy_runs_end_in_the_wide_well_and_none_without_noise() -> None:
    share, chain, calm = WIDE_MINIMA.check().findings
    assert share.measured > 0.7
    assert chain.predicted == pytest.approx(0.771, abs=0.002)  # the limit of ever finer grids
    assert calm.measured == 0


@pytest.mark.slow
def test_between_equal_wells_the_chain_tends_to_one_half() -> None:
    shares = expected_shares(1.0, 10_000)
    assert shares[-1] == pytest.approx(0.5, abs=0.02)
    assert shares[3000] < 0.5


@pytest.mark.slow
def test_a_well_just_below_the_limit_of_descent_holds_and_one_above_is_refused() -> None:
    assert WIDE_MINIMA.check(sharpness=39.9).holds
    with pytest.raises(ConfigError, match=r"^sharpness must be less than 40\.0, got 50$"):
        WIDE_MINIMA.check(sharpness=50)


@pytest.mark.slow
def test_the_chart_of_calm_descent_speaks_of_no_noise() -> None:
    assert "none leaves" in WIDE_MINIMA.check(noise=False).chart.explanation
