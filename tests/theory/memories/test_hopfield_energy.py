"""Energies that fall: the contracts of both claims, and what wrong code does to them."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.memories.hopfield_energy import ATTENTION, ENERGY


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

    monkeypatch.setattr("netwright.theory.memories.hopfield_energy.asynchronous_sweep", against)
    monkeypatch.setattr("netwright.theory.memories.hopfield_energy.MOST_SWEEPS", 3)
    assert not ENERGY.check().holds


@pytest.mark.slow
def test_the_prediction_is_the_lowest_energy_so_far() -> None:
    *_, bound = ENERGY.check().chart.series
    assert bound.role == "predicted"
    assert list(bound.y) == sorted(bound.y, reverse=True)
    path = ENERGY.check().chart.series[0].y
    assert path == pytest.approx(bound.y, abs=1e-10)
    assert ENERGY.check(symmetric=False).chart.series[0].y != pytest.approx(bound.y, abs=1.0)


@pytest.mark.parametrize("settings", [{"units": 1}, {"units": 500, "updates": 50}, {"updates": 1}])
def test_energy_never_rises_at_any_size(settings: dict[str, Any]) -> None:
    assert ENERGY.check(**settings).holds


def test_one_pattern_that_any_scale_recalls_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^patterns must be at least 2, got 1$"):
        ATTENTION.check(patterns=1)
