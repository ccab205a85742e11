"""Parameters of vision networks: three layers counted, and the dense shares of four networks."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.models.catalog import MODELS
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.images.vision_parameters import (
    IMAGENET,
    RESNET_DENSE,
    SPARSE_SHARED,
    SparseSharedConfig,
    build_layers,
    count,
    dense_share,
)


@pytest.mark.parametrize("claim", [SPARSE_SHARED, RESNET_DENSE], ids=["62", "64"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim: Claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("sparse-interactions")
def test_a_thousand_values_and_three_neighbours() -> None:
    findings = SPARSE_SHARED.check().findings
    assert [finding.measured for finding in findings] == [1_000_000, 3000, 3]
    assert [finding.predicted for finding in findings] == [1_000_000, 3000, 3]


@pytest.mark.parametrize(("values", "kernel"), [(2, 1), (7, 7), (100_000, 4)])
def test_holds_for_other_sizes_and_allocates_nothing(values: int, kernel: int) -> None:
    assert SPARSE_SHARED.check(values=values, kernel=kernel).holds
    layers = build_layers(SparseSharedConfig(values=values, kernel=kernel)).values()
    assert all(weight.is_meta for layer in layers for weight in layer.parameters())


def test_the_three_layers_give_as_many_values_as_they_take() -> None:
    dense, local, shared = build_layers(SparseSharedConfig(values=10, kernel=3)).values()
    x = torch.ones(1, 1, 10, device="meta")
    padded = torch.ones(1, 1, 1, 12, device="meta")
    assert [dense(x).numel(), local(padded).numel(), shared(x).numel()] == [10, 10, 10]


@pytest.mark.covers("conv-prior")
def test_the_dense_share_of_old_networks_is_large_and_of_residual_ones_small() -> None:
    shares = {name: round(100 * dense_share(name), 1) for name in ("alexnet", "vgg16", "resnet50")}
    assert shares == {"alexnet": 96.0, "vgg16": 89.4, "resnet50": 8.0}
    assert 100 * dense_share("resnet34") == pytest.approx(2.4, abs=0.05)


def test_shares_are_of_the_known_counts() -> None:
    with torch.device("meta"):
        net = MODELS.load("resnet50").build(MODELS.load("resnet50").settings(), IMAGENET)
    assert count(net) == 25_557_032
    assert dense_share("resnet50") == pytest.approx((2048 + 1) * 1000 / 25_557_032)


def test_a_dense_layer_on_the_pixels_of_the_last_maps_would_be_most_of_a_residual_network() -> None:
    weights = 2048 * 49 * 1000 + 1000
    rest = 25_557_032 - 2049 * 1000
    assert dense_share("resnet50", averaged=False) == pytest.approx(weights / (weights + rest))
    findings = RESNET_DENSE.check().findings
    assert [finding.holds for finding in findings] == [False, False, True, True]


def test_a_map_of_one_value_is_refused_since_nothing_can_be_saved() -> None:
    with pytest.raises(ConfigError, match=r"^values must be at least 2, got 1$"):
        SparseSharedConfig(values=1)
