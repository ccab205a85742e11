"""The order of pixels: what a permutation keeps, and which networks mind."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.images.pixel_order import PIXEL_ORDER, SHAPES, reordered
from netwright.theory.images.shape_images import SIDE, shape_data
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.covers("cnn-vs-mlp-permuted")
@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(PIXEL_ORDER)


def test_all_pictures_are_reordered_alike_and_no_pixel_is_lost() -> None:
    data = shape_data(SHAPES, 8, generator(0, "test"))
    order = torch.randperm(SIDE**2, generator=generator(1, "test"))
    other = reordered(data, order)
    for name in ("train", "test"):
        before, after = data.split(name).inputs, other.split(name).inputs
        assert before.shape == after.shape
        assert torch.equal(before.flatten(1)[:, order], after.flatten(1))
        assert torch.equal(data.split(name).targets, other.split(name).targets)


def test_dense_weights_that_are_reordered_too_see_the_same() -> None:
    data = shape_data(SHAPES, 8, generator(0, "test"))
    order = torch.randperm(SIDE**2, generator=generator(1, "test"))
    net = MLP(MLPConfig(hidden=(16,), dropout=0.0), data.spec)
    logits = net(data.train.inputs)
    first = net.get_parameter("hidden.0.0.weight")
    with torch.no_grad():
        first.copy_(first[:, order])
    assert torch.allclose(net(reordered(data, order).train.inputs), logits, atol=1e-5)


@pytest.mark.parametrize(
    ("found", "failing"),
    [
        ({"mlp": (60, 61), "cnn": (99, 50)}, []),
        ({"mlp": (60, 56), "cnn": (99, 50)}, ["dense"]),
        ({"mlp": (56, 60), "cnn": (99, 50)}, ["dense"]),
        ({"mlp": (60, 60), "cnn": (99, 90)}, ["convolutional"]),
    ],
)
def test_each_accuracy_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, tuple[float, float]], failing: list[str]
) -> None:
    monkeypatch.setattr(
        "netwright.theory.images.pixel_order.accuracies", lambda given, model, *_: found[model]
    )
    turned = [one.what for one in PIXEL_ORDER.check().findings if not one.holds]
    assert turned == [f"accuracy that a {kind} network loses, points" for kind in failing]
