"""Fewer weights and pictures: the counts, and what turns the verdict."""

import pytest

from netwright.theory.images.cnn_efficiency import FEW, FEWER_WEIGHTS, MANY, count_weights
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(FEWER_WEIGHTS)


def test_the_weights_are_those_of_the_layers() -> None:
    assert count_weights("mlp") == (144 + 1) * 256 + (256 + 1) * 4
    assert count_weights("cnn") == (25 + 1) * 8 + (8 * 2 * 2 + 1) * 4


@pytest.mark.parametrize(
    ("dense", "convolutional", "failing"),
    [
        ([40.0, 60.0], [65.0, 95.0], []),
        ([40.0, 60.0], [65.0, 69.0], [1]),
        ([40.0, 60.0], [55.0, 95.0], [2]),
    ],
)
def test_each_accuracy_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
    dense: list[float],
    convolutional: list[float],
    failing: list[int],
) -> None:
    curves = {"mlp": dense, "cnn": convolutional}
    monkeypatch.setattr(
        "netwright.theory.images.cnn_efficiency.learning_curve",
        lambda given, model, *_: curves[model],
    )
    findings = FEWER_WEIGHTS.check().findings
    assert [place for place, one in enumerate(findings) if not one.holds] == failing


def test_a_dense_network_that_is_no_larger_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("netwright.theory.images.cnn_efficiency.count_weights", lambda model: 1000)
    monkeypatch.setattr(
        "netwright.theory.images.cnn_efficiency.learning_curve",
        lambda given, model, *_: [90.0 if model == "cnn" else 10.0] * 2,
    )
    verdict = FEWER_WEIGHTS.check()
    assert not verdict.holds
    assert (verdict.predicted, verdict.measured) == (10, 1)
    assert (FEW, MANY) == (100, 400)
