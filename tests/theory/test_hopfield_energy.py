"""Energies that fall: the contracts of both claims, and what wrong code does to them."""

from typing import Any

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.hopfield_energy import ATTENTION, ENERGY


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [ENERGY, ATTENTION], ids=["energy", "attention"])
def test_keeps_the_claim_contract(claim: Any, check: Any) -> None:
    check(claim)


def test_ten_thousand_updates_never_raise_the_energy_and_every_state_rests() -> None:
    largest, restless = ENERGY.check().findings
    assert largest.n == 10_000 and largest.measured <= 1e-12
    assert restless.n == 10 and restless.measured == 0


def test_update_and_attention_agree_to_the_last_digits() -> None:
    difference, change = ATTENTION.check(size="full").findings
    assert difference.n == 640_000 and difference.measured <= 1e-12
    assert change.n == 10_000 and change.measured < 0


def test_a_sweep_against_the_field_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def against(states: Any, weights: Any, bias: Any = None, order: Any = None) -> Any:
        turned = states.clone()
        units = slice(None) if order is None else order
        turned[:, units] = -torch.sign(states @ weights.T - bias)[:, units]
        return turned

    monkeypatch.setattr("netwright.theory.hopfield_energy.asynchronous_sweep", against)
    monkeypatch.setattr("netwright.theory.hopfield_energy.MOST_SWEEPS", 3)
    assert not ENERGY.check().holds
