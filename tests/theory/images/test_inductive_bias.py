"""Few pictures and many: each lead that is not as claimed turns the verdict."""

import pytest

from netwright.theory.images.inductive_bias import (
    INDUCTIVE_BIAS,
    SETTINGS,
    TRAINING,
    InductiveBiasConfig,
    accuracies,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(INDUCTIVE_BIAS)


@pytest.mark.parametrize(
    ("cnn", "vit", "failing"),
    [
        ([90.0, 99.0], [30.0, 97.0], []),
        ([50.0, 99.0], [30.0, 97.0], [0, 1]),
        ([90.0, 99.0], [30.0, 40.0], [1]),
    ],
)
def test_each_lead_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, cnn: list[float], vit: list[float], failing: list[int]
) -> None:
    found = {"cnn": cnn, "vit": vit}
    monkeypatch.setattr(
        "netwright.theory.images.inductive_bias.accuracies", lambda given, model, *_: found[model]
    )
    findings = INDUCTIVE_BIAS.check().findings
    assert [place for place, one in enumerate(findings) if not one.holds] == failing


def test_networks_learn_from_each_share(monkeypatch: pytest.MonkeyPatch) -> None:
    for model in SETTINGS:
        monkeypatch.setitem(TRAINING[model], "max_steps", 1)
        found = accuracies(InductiveBiasConfig(), model, 0, "quick")
        assert len(found) == 2
        assert all(0 <= one <= 60 for one in found)


@pytest.mark.slow
@pytest.mark.covers("inductive-bias")
def test_a_cnn_is_ahead_with_few_shifted_shapes_and_less_with_many() -> None:
    ahead, lost = INDUCTIVE_BIAS.check().findings
    assert ahead.measured > 25
    assert lost.measured > 25
