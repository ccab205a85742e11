"""Deep sigmoid networks: how fast gradients vanish, and which weights keep them."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.layers.initializers import INITIALIZERS
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.networks.gradient_depth import factor_per_layer, geometric_mean
from netwright.theory.networks.sigmoid_depth import (
    LOGISTIC_INIT,
    NEGATIVE_MEAN_INIT,
    SHRINKING,
    SigmoidDepthConfig,
    measured_norms,
    smaller,
    steepest,
)
from tests.repetition import slow_but
from tests.theory.costly import COSTLY_CLAIM_CHECKS

CLAIMS = {"shrinking": SHRINKING, "logistic": LOGISTIC_INIT, "negative mean": NEGATIVE_MEAN_INIT}


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [SHRINKING, LOGISTIC_INIT], ids=["shrinking", "logistic"])
def test_keeps_the_claim_contract(check, claim: Claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_the_negative_mean_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(NEGATIVE_MEAN_INIT)


@pytest.mark.covers("logistic-init-3p6")
def test_a_layer_leaves_0_23_of_a_gradient_and_0_57_of_it_with_wider_weights() -> None:
    given = SigmoidDepthConfig()
    for initializer, factor, attenuation in (
        ("xavier-normal", 0.23, 4.6e5),
        ("logistic", 0.57, 137),
    ):
        norms = measured_norms(given, 10, initializer, 0, "full")
        assert geometric_mean(factor_per_layer(norms))[0] == pytest.approx(factor, rel=0.03)
        assert smaller(norms) == pytest.approx(attenuation, rel=0.25)


@pytest.mark.slow
@pytest.mark.covers("yilmaz-poli-init")
def test_a_negative_mean_keeps_gradients_through_ten_and_fifteen_layers() -> None:
    given = SigmoidDepthConfig()
    for depth in (10, 15):
        assert smaller(measured_norms(given, depth, "yilmaz-poli", 0, "quick")) < 100
        assert smaller(measured_norms(given, depth, "xavier-normal", 0, "quick")) > 1e5


@pytest.mark.slow
def test_a_negative_mean_loses_gradients_in_wide_layers_and_with_centred_inputs() -> None:
    def lost(width: int, **options: bool) -> float:
        given = SigmoidDepthConfig(width=width)
        return smaller(measured_norms(given, 15, "yilmaz-poli", 0, "quick", **options))

    assert lost(100) < 100 < lost(100, centred=True) < 1500
    assert 100 < lost(400) < 1500
    with pytest.raises(ConfigError, match=r"^width must be at most 100, got 101$"):
        NEGATIVE_MEAN_INIT.check(width=101)


@pytest.mark.parametrize("width", slow_but([20], [20, 50]))
def test_a_negative_mean_keeps_gradients_of_narrower_layers(width: int) -> None:
    assert NEGATIVE_MEAN_INIT.check(width=width).holds


def test_the_steepest_slopes() -> None:
    assert steepest("sigmoid") == (0.25, 2001)
    assert steepest("tanh") == (1.0, 2001)


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        (SHRINKING, "xavier-normal"),
        (LOGISTIC_INIT, "logistic"),
        (NEGATIVE_MEAN_INIT, "yilmaz-poli"),
    ],
    ids=CLAIMS,
)
def test_a_wrong_initializer_turns_the_verdict(
    claim: Claim, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = INITIALIZERS.load(name)
    monkeypatch.setitem(
        row.__dict__, "fill", lambda weight: torch.nn.init.normal_(weight, std=0.05)
    )
    assert not claim.check().holds


@pytest.mark.parametrize("settings", [{"width": 40}, {"width": 200, "depth": 4}, {"depth": 2}])
def test_the_shrinking_holds_at_other_sizes(settings: dict[str, Any]) -> None:
    assert SHRINKING.check(**settings).holds
    assert LOGISTIC_INIT.check(**settings).holds
