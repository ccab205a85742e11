"""Adaptive steps: Adam's first one with and without its correction, AdaGrad's and RMSProp's."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.adaptive_rates import (
    ADAGRAD_DECAY,
    ADAM_FIRST_STEP,
    effective_rates,
    uncorrected_step,
)
from netwright.theory.claims import Claim


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [ADAM_FIRST_STEP, ADAGRAD_DECAY], ids=["adam", "adagrad"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def test_the_first_step_is_3_16_times_as_long_without_the_correction() -> None:
    plain, corrected = ADAM_FIRST_STEP.check().findings
    assert plain.measured == pytest.approx(3.162, abs=1e-3)
    assert corrected.measured == pytest.approx(1, abs=1e-5)


def test_the_factor_follows_from_the_betas() -> None:
    plain, corrected = ADAM_FIRST_STEP.check(beta1=0.5, beta2=0.75).findings
    assert plain.measured == pytest.approx(0.5 / 0.25**0.5, rel=1e-5)
    assert corrected.measured == pytest.approx(1, abs=1e-5)


def test_means_that_start_at_the_gradient_need_no_correction() -> None:
    step = uncorrected_step(torch.tensor([-2.0, 5.0]), (0.9, 0.999), from_zero=False)
    assert step.tolist() == pytest.approx([-1, 1])


def test_adagrad_slows_down_to_one_over_the_root_of_the_steps_and_rmsprop_does_not() -> None:
    gradients = torch.full((1600,), -0.3, dtype=torch.float64)
    assert effective_rates("adagrad", gradients)[-1].item() == pytest.approx(1 / 40, rel=1e-6)
    assert effective_rates("rmsprop", gradients)[-1].item() == pytest.approx(1, abs=1e-3)


def test_rmsprop_in_place_of_adagrad_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "netwright.theory.adaptive_rates.effective_rates",
        lambda name, gradients: effective_rates("rmsprop", gradients),
    )
    assert not ADAGRAD_DECAY.check().holds
