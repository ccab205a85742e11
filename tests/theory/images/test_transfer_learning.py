"""Transfer: what is kept, what learns, and what turns the verdict."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.theory.images.shape_images import SHAPES, shape_data
from netwright.theory.images.transfer_learning import (
    KEPT,
    TRANSFER,
    Accuracies,
    build_net,
    learn,
    with_features_of,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.covers("transfer-learning")
@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(TRANSFER)


def test_all_but_the_last_layer_is_taken_over_and_stays_bit_for_bit() -> None:
    rng = generator(0, "test")
    known, few = shape_data(list(SHAPES)[2:], 80, rng), shape_data(["bar", "pillar"], 10, rng)
    source, own = build_net(known, 0), build_net(few, 1)
    last = {name: weight.clone() for name, weight in own.classifier[-1].state_dict().items()}
    net = with_features_of(source, own)
    learn(net, few, seed=0, steps=3, freeze=KEPT)
    kept = {name for name, _ in net.named_parameters() if not name.startswith("classifier.4")}
    assert kept == {
        f"{part}.{kind}" for part in ("features.0.0", KEPT) for kind in ("weight", "bias")
    }
    for name in kept:
        assert torch.equal(net.get_parameter(name), source.get_parameter(name))
    for name, weight in last.items():
        assert not torch.equal(net.classifier[-1].get_parameter(name), weight)


@pytest.mark.parametrize(("gain", "holds"), [(6.0, True), (4.0, False)])
def test_five_points_are_what_it_takes(
    monkeypatch: pytest.MonkeyPatch, gain: float, holds: bool
) -> None:
    monkeypatch.setattr(
        "netwright.theory.images.transfer_learning.transfer",
        lambda given, seed, effort: [Accuracies(60, 60 + gain + noise) for noise in (-3, 3)],
    )
    verdict = TRANSFER.check()
    assert verdict.holds == holds
    assert verdict.measured == pytest.approx(gain)
    assert verdict.n == 4  # choices of classes: the draws of one share their features
