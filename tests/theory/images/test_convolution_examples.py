"""Worked examples of convolution and pooling, and the share of maxima that a shift changes."""

import pytest
import torch
from scipy.ndimage import maximum_filter1d
from torch import nn

from netwright.core.seeding import generator
from netwright.layers.convolution.convolution import convolve, correlate
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.images.convolution_examples import (
    DETECTED,
    DETECTED_SHIFTED,
    FILTER,
    IMAGE,
    POOLING_SHIFT,
    STANDARD_ERRORS,
    WORKED_EXAMPLES,
    PoolingShiftConfig,
    count_changes,
    share_changed,
)
from tests.repetition import for_each


@pytest.mark.parametrize("claim", [WORKED_EXAMPLES, POOLING_SHIFT], ids=["60", "61"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim: Claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("conv-worked-example")
def test_the_filter_does_not_flip() -> None:
    assert correlate(IMAGE, FILTER, "valid").tolist() == [[37, 47], [67, 77], [97, 107]]
    assert convolve(IMAGE, FILTER, "valid")[0, 0] == 4 * 1 + 3 * 2 + 2 * 4 + 1 * 5 == 23
    told = [float(name) for name in WORKED_EXAMPLES.check().chart.categories]
    assert told == [37, 47, 67, 77, 97, 107, 3, 5, 2, 4]


def test_a_way_that_computes_something_else_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(
        correlate.__globals__["WAYS"], "fft", lambda signal, kernel, frame: torch.ones(3, 2)
    )
    verdict = WORKED_EXAMPLES.check()
    assert not verdict.holds
    assert (verdict.measured, verdict.n) == (6, 24)


@pytest.mark.covers("pooling-local-invariance")
def test_all_four_detector_values_change_and_two_of_four_pooled_ones() -> None:
    pool = PoolingShiftConfig().pool(3, padding=1)
    pooled = pool(torch.tensor([DETECTED, DETECTED_SHIFTED], dtype=torch.float64))
    assert pooled.tolist() == [[1, 1, 1, 0.2], [0.3, 1, 1, 1]]
    reference = maximum_filter1d(DETECTED, 3, mode="constant", cval=-1)
    assert pooled[0].tolist() == reference.tolist()
    assert count_changes(DETECTED, DETECTED_SHIFTED, nn.Identity()) == 4
    assert count_changes(DETECTED, DETECTED_SHIFTED, pool) == 2
    assert count_changes(DETECTED, DETECTED, pool) == 0


@for_each("width", [1, 2, 3, 9])
def test_two_of_width_plus_one_maxima_change(width: int) -> None:
    found = share_changed(PoolingShiftConfig(), width, 20_000, generator(0, "test"))
    assert found.mean == pytest.approx(2 / (width + 1), abs=0.015)


def test_shares_may_differ_by_their_standard_errors() -> None:
    share = POOLING_SHIFT.check(0, "quick").findings[2]
    assert share.predicted == 0.5
    assert share.within == pytest.approx(STANDARD_ERRORS * 0.5 / share.n**0.5)


def test_every_mean_changes_and_so_does_every_maximum_of_rising_values() -> None:
    for broken in ("maximum", "independent"):
        given = PoolingShiftConfig(**{broken: False})
        assert share_changed(given, 3, 500, generator(0, "test")).mean == 1


def test_pooling_inside_a_window_does_not_see_the_order() -> None:
    pool, x = nn.MaxPool1d(3), torch.randn(1, 9, generator=generator(0, "test"))
    exchanged = x.reshape(1, 3, 3).flip(2).flatten(1)
    assert torch.equal(pool(x), pool(exchanged))
