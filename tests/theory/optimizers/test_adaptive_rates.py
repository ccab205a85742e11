"""Adaptive steps: Adam's first one with and without its correction, AdaGrad's and RMSProp's."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.optimizers.optimizer import build_optimizer
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.optimizers.adaptive_rates import (
    ADAGRAD_DECAY,
    ADAM_FIRST_STEP,
    effective_rates,
    first_steps,
)


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
    plain, corrected = first_steps(torch.tensor([-2.0, 5.0]), (0.9, 0.999), from_zero=False)
    assert plain.tolist() == pytest.approx([-1, 1])
    assert corrected.tolist() == pytest.approx([-(1e-3**0.5) / 0.1, 1e-3**0.5 / 0.1])


def test_first_steps_are_those_of_adam_and_of_its_means() -> None:
    gradient = torch.tensor([-2.0, 5.0], dtype=torch.float64)
    plain, corrected = first_steps(gradient, (0.9, 0.999), from_zero=True)
    assert plain.tolist() == pytest.approx([-(10**0.5), 10**0.5])
    assert corrected.tolist() == pytest.approx([-1, 1])


def test_an_adam_that_forgets_faster_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(entry, model, *, lr, options):  # type: ignore[no-untyped-def]
        return build_optimizer(entry, model, lr=lr, options={**options, "betas": (0.5, 0.999)})

    monkeypatch.setattr("netwright.theory.optimizers.adaptive_rates.build_optimizer", forgetful)
    assert not ADAM_FIRST_STEP.check().holds


@pytest.mark.parametrize("settings", [{"beta1": 0.0}, {"beta2": 0.0}, {"beta2": 0.99999}])
def test_the_first_steps_hold_for_any_betas(settings: dict[str, float]) -> None:
    assert ADAM_FIRST_STEP.check(0, "quick", **settings).holds


def test_a_memory_so_long_that_eps_counts_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^beta2 must be at most 0\.99999, got 0\.9999999$"):
        ADAM_FIRST_STEP.check(beta2=0.9999999)


@pytest.mark.parametrize(
    ("claim", "switch", "only_with_it"),
    [
        (ADAM_FIRST_STEP, "from_zero", "whatever the gradient"),
        (ADAM_FIRST_STEP, "large_gradients", "whatever the gradient"),
        (ADAGRAD_DECAY, "constant_gradient", "slows down for good"),
    ],
)
def test_the_chart_says_what_it_shows_without_the_assumption_too(
    claim: Claim, switch: str, only_with_it: str
) -> None:
    assert only_with_it in claim.check().chart.explanation
    assert only_with_it not in claim.check(0, "quick", **{switch: False}).chart.explanation


@pytest.mark.slow
def test_adagrad_slows_down_to_one_over_the_root_of_the_steps_and_rmsprop_does_not() -> None:
    gradients = torch.full((1600,), -0.3, dtype=torch.float64)
    assert effective_rates("adagrad", gradients)[-1].item() == pytest.approx(1 / 40, rel=1e-6)
    assert effective_rates("rmsprop", gradients)[-1].item() == pytest.approx(1, abs=1e-3)


def test_steps_of_a_gradient_that_fades_as_1_over_t_do_not_fade() -> None:
    last, *_ = ADAGRAD_DECAY.check(0, "quick", constant_gradient=False).findings
    squares = sum(1 / t**2 for t in range(1, last.n + 1))  # tends to pi^2 / 6
    assert last.measured == pytest.approx(squares**-0.5, rel=1e-6)


def test_rmsprop_in_place_of_adagrad_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "netwright.theory.optimizers.adaptive_rates.effective_rates",
        lambda name, gradients: effective_rates("rmsprop", gradients),
    )
    assert not ADAGRAD_DECAY.check().holds
