"""Linear regions: counted exactly, in width and in depth."""

import itertools
import re

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator, seeded
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.approximation import linear_regions
from netwright.theory.approximation.linear_regions import (
    MONTUFAR,
    ZASLAVSKY,
    build_folding_net,
    build_net,
    build_sawtooth,
    count_pieces,
    count_regions,
    linear_layers,
    most_regions,
)
from netwright.theory.approximation.universality import relu_sum
from tests.repetition import for_each


@pytest.mark.parametrize("claim", [ZASLAVSKY, MONTUFAR], ids=["zaslavsky", "montufar"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def random_planes(planes: int, inputs: int) -> tuple[Tensor, Tensor]:
    rng = generator(5, "planes", planes, inputs)
    normals = torch.randn(planes, inputs, generator=rng, dtype=torch.float64)
    return normals, torch.randn(planes, generator=rng, dtype=torch.float64)


@pytest.mark.covers("zaslavsky")
@for_each(("planes", "inputs", "regions"), [(3, 2, 7), (5, 2, 16), (10, 2, 56), (4, 3, 15)])
def test_regions_of_random_hyperplanes(planes: int, inputs: int, regions: int) -> None:
    assert most_regions(planes, inputs) == regions
    assert count_regions(*random_planes(planes, inputs)) == regions


def test_regions_of_lines_in_special_position_by_hand() -> None:
    three = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    assert count_regions(three, torch.zeros(3, dtype=torch.float64)) == 6  # all through the origin
    parallel = torch.tensor([[1.0, 0.0]] * 3, dtype=torch.float64)
    assert count_regions(parallel, torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)) == 4
    same = torch.zeros(3, dtype=torch.float64)
    assert count_regions(parallel, same) == 2


def test_with_fewer_lines_than_dimensions_every_pattern_occurs() -> None:
    assert count_regions(*random_planes(3, 4)) == most_regions(3, 4) == 8


@pytest.mark.covers("montufar")
def test_a_folding_network_has_eighty_pieces_and_random_ones_far_fewer() -> None:
    assert count_pieces(build_folding_net(4, 3), 0, 1) == 80
    assert count_pieces(build_sawtooth(4, 2), 0, 1) == 16
    with seeded(0):
        counts = [count_pieces(build_net(4, 3), -1000, 1000) for _ in range(20)]
    assert max(counts) < 40


@for_each(("width", "layers"), [(1, 2), (2, 4), (3, 3), (5, 2)])
def test_pieces_multiply_with_every_fold(width: int, layers: int) -> None:
    net = build_folding_net(width, layers)
    assert count_pieces(net, 0, 1) == (width + 1) * width ** (layers - 1)


def test_pieces_counted_on_a_dense_grid_are_the_same() -> None:
    net = build_folding_net(4, 3)
    x = torch.linspace(
        0, 1, 80 * 50 + 1, dtype=torch.float64
    )  # 50 steps a piece, kinks on the grid
    with torch.no_grad():
        slopes = net(x[:, None])[:, 0].diff() / x.diff()
    changes = (slopes.diff().abs() > 1e-6 * slopes.abs().max()).sum()
    assert 1 + int(changes) == 80


@pytest.mark.covers("sawtooth-depth", "depth-vs-width")
@for_each("folds", [1, 2, 5, 8])
def test_a_tent_folded_k_times_needs_two_units_a_layer_or_exponentially_many_in_one(
    folds: int,
) -> None:
    net = build_sawtooth(2, folds)
    hidden = linear_layers(net)[:-1]
    assert sum(layer.out_features for layer in hidden) == 2 * folds
    assert count_pieces(net, 0, 1) == 2**folds
    x = torch.linspace(0, 1, 1001, dtype=torch.float64)
    kinks = torch.arange(1, 2**folds, dtype=torch.float64) / 2**folds
    slopes = 2.0**folds * (1 - 2 * (torch.arange(2**folds, dtype=torch.float64) % 2))
    shallow = relu_sum(x, kinks, slopes, torch.zeros((), dtype=torch.float64))
    with torch.no_grad():
        torch.testing.assert_close(net(x[:, None])[:, 0], shallow)
    with seeded(folds):  # one layer of M units: at most M + 1 pieces, so that 2^k need 2^k - 1
        wide = build_net(2**folds - 2 or 1, 1)
    assert count_pieces(wide, -1e6, 1e6) <= max(2, 2**folds - 1)


def test_two_inputs_folded_once_have_forty_four_regions() -> None:
    """Each of two inputs is folded in two; then four lines make 11 regions in each of 4 copies."""
    side = torch.linspace(0.0005, 0.9995, 1000, dtype=torch.float64)
    folded = 1 - (2 * side - 1).abs()
    lines = [(1.0, 0.3, -0.55), (0.3, -1.0, 0.4), (1.0, -0.8, 0.1), (1.0, 1.2, -1.3)]
    patterns = [a * folded[:, None] + b * folded[None] + c > 0 for a, b, c in lines]
    halves = [(side > 0.5)[:, None].expand(1000, 1000), (side > 0.5)[None].expand(1000, 1000)]
    code = sum(2**i * pattern.long() for i, pattern in enumerate(itertools.chain(patterns, halves)))
    assert len(set(torch.as_tensor(code).flatten().tolist())) == most_regions(4, 2) * 2**2 == 44


def test_more_pieces_than_can_be_counted_are_refused() -> None:
    sentence = "width and layers must give at most 100,000 pieces, (m + 1) m^(L-1), got 1,310,720"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        MONTUFAR.check(width=4, layers=10)
    with pytest.raises(ConfigError, match=r"^layers must be at most 16, got 40$"):
        MONTUFAR.check(layers=40)


def test_a_fold_that_forgets_to_turn_changes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    written = linear_regions.write_folds
    monkeypatch.setattr(
        linear_regions, "write_folds", lambda layers, width: written(layers, width).abs()
    )
    assert not MONTUFAR.check().holds
