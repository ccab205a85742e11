"""Linear recurrences: the depth of the scan, and eigenvalues that stay inside the circle."""

import pytest
import torch

from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit
from netwright.layers.recurrence.scan import parallel_scan
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.sequences.linear_recurrences import (
    LRU_STABLE,
    SCAN_DEPTH,
    by_squashed_steps,
    impulse_response,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [SCAN_DEPTH, LRU_STABLE], ids=["scan-depth", "lru-stable"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("prefix-scan")
def test_a_thousand_steps_take_ten_rounds_and_all_lengths_agree_with_the_loop() -> None:
    verdict = SCAN_DEPTH.check(size="full")
    assert verdict.holds
    found = dict(zip(verdict.chart.series[1].x, verdict.chart.series[1].y, strict=True))
    assert (found[1], found[2], found[3], found[1000], found[1024], found[1025]) == (
        (0, 1, 2, 10, 10, 11)
    )


def test_two_squashed_steps_by_hand() -> None:
    a, b = torch.tensor([[[3.0], [0.5]]]), torch.tensor([[[1.0], [-2.0]]])
    first = torch.tensor(1.0).tanh()
    wanted = torch.stack([first, (first / 2 - 2).tanh()])
    torch.testing.assert_close(by_squashed_steps(a, b).flatten(), wanted)


def test_an_impulse_fades_by_the_same_factor_each_step() -> None:
    response = impulse_response(torch.tensor([0.5, 0.8j]))
    torch.testing.assert_close(response[:3, 0], torch.tensor([1, 0.5, 0.25], dtype=response.dtype))
    torch.testing.assert_close(response[:3, 1], torch.tensor([1, 0.8j, -0.64]))


def test_no_training_moves_the_unit_out_of_the_circle() -> None:
    unit = LinearRecurrentUnit(4, 6)
    with torch.no_grad():
        unit.nu.copy_(torch.tensor([-5.0, -2, 0, 1, 3, 4]))
        values, _ = unit.coefficients(torch.zeros(1, 1, 4))
    assert bool(((values.abs() > 0) & (values.abs() < 1)).all())


def test_a_round_too_many_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_more(a, b):  # type: ignore[no-untyped-def]
        states, rounds = parallel_scan(a, b)
        return states, rounds + 1

    monkeypatch.setattr("netwright.theory.sequences.linear_recurrences.parallel_scan", one_more)
    assert not SCAN_DEPTH.check().holds
