"""Deep ReLU networks: He's weights keep gradients, Xavier's do not."""

from typing import Any

import pytest
import torch

from netwright.core.seeding import derive_seed
from netwright.layers.initializers import INITIALIZERS
from netwright.theory.networks.gradient_depth import geometric_mean, relative_norms
from netwright.theory.networks.relu_depth import HE_INIT
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(HE_INIT)


def test_xavier_loses_half_a_bit_a_layer() -> None:
    verdict = HE_INIT.check(width=64, depth=9)
    assert verdict.findings[2].predicted == 4.0
    assert verdict.findings[2].measured == pytest.approx(4.0, abs=1e-6)
    he, xavier = verdict.chart.series[2:]
    assert xavier.y[0] / he.y[0] == pytest.approx(2**-4, rel=1e-6)


@pytest.mark.slow
def test_through_fifty_layers_he_keeps_gradients_within_a_factor_of_three() -> None:
    seeds = [derive_seed(0, "he", i) for i in range(10)]
    norms = relative_norms(256, 50, activation="relu", initializer="he-normal", seeds=seeds)
    assert 0.3 < geometric_mean(norms[:, 0])[0] < 3.3
    assert 0.3 < norms[:, 0].mean() < 3.3


@pytest.mark.parametrize("settings", [{"width": 40, "depth": 10}, {"width": 128, "depth": 30}])
def test_it_holds_at_other_sizes(settings: dict[str, Any]) -> None:
    assert HE_INIT.check(**settings).holds


def test_a_wrong_variance_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    row = INITIALIZERS.load("he-normal")
    monkeypatch.setitem(row.__dict__, "fill", torch.nn.init.xavier_normal_)
    assert not HE_INIT.check(width=64, depth=20).holds
