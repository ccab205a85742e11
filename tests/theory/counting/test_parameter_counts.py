"""Parameter counts: four networks, counted and by formula."""

import math

import pytest
import torch
from torch import nn

from netwright.models.mlp import count_parameters
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.counting.parameter_counts import (
    NETWORKS,
    PARAMETER_COUNTS,
    UNIT,
    Dense,
    build_dense,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(PARAMETER_COUNTS)


@pytest.mark.covers("mlp-image-parameter-count", "llama-size-comparison", "parameter-counting")
def test_counts_are_exact() -> None:
    findings = PARAMETER_COUNTS.check().findings
    counts = [120_000, 235_146, 8_590_065_664, 77_309_804_544]
    assert [finding.measured for finding in findings] == counts
    assert [finding.predicted for finding in findings] == counts
    assert findings[0].what == "weights of one unit on 200 x 200 x 3"
    assert findings[1].what == "weights and biases, MNIST network 784-256-128-10"
    assert findings[-1].measured > 70e9  # more than a large Llama
    assert count_parameters([196_608] * 3) == 77_309_804_544
    assert count_parameters([65_536] * 3) == 8_590_065_664
    for inputs, units in ((1, 5), (10, 3), (784, 100)):
        with torch.device("meta"):  # one hidden layer without an output bias: (d + 2) M
            net = nn.Sequential(nn.Linear(inputs, units), nn.Linear(units, 1, bias=False))
        assert sum(parameter.numel() for parameter in net.parameters()) == (inputs + 2) * units


def test_nothing_is_allocated() -> None:
    net = build_dense(NETWORKS[-1])
    assert all(parameter.device.type == "meta" for parameter in net.parameters())


@pytest.mark.covers("mlp-first-layer-weights")
def test_twice_the_side_length_is_four_times_the_weights_of_a_unit() -> None:
    assert build_dense(UNIT).head.in_features == 120_000
    channels, height, width = UNIT.picture
    large = Dense(name="large", picture=(channels, 2 * height, 2 * width), widths=(1,))
    weights = build_dense(large).head.weight.numel()
    assert weights == 4 * math.prod(UNIT.picture) == 480_000
