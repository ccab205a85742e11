"""Position encodings: a shift is a rotation, and rotated scores know distances alone."""

import math
import re

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.attention.position_encoding import (
    LearnedPositions,
    Rotary,
    SinusoidalPositions,
    pair_angles,
    rotate_pairs,
    sinusoidal_encoding,
)


def rotation_error(encoding: Tensor, shift: int) -> float:
    """How far each pair is from being turned by one angle, whatever the position."""
    before, after = encoding[:-shift], encoding[shift:]
    worst = 0.0
    for pair in range(0, encoding.shape[1], 2):
        x, y = before[:, pair : pair + 2], after[:, pair : pair + 2]
        turn = torch.linalg.lstsq(x, y).solution  # the best linear map
        worst = max(worst, float((x @ turn - y).abs().max()))
    return worst


@pytest.mark.covers("positional-encoding")
def test_a_shift_is_a_fixed_rotation_of_each_pair_and_the_misprints_are_none() -> None:
    table = sinusoidal_encoding(50, 16)
    assert table[0].tolist() == [0.0, 1.0] * 8
    assert float(table[3, 5]) == pytest.approx(math.cos(3 / 10_000 ** (4 / 16)))
    for shift in (1, 7):
        assert rotation_error(table, shift) < 1e-10
        angles = pair_angles(shift + 1, 16)[shift]
        cos, sin = angles.cos(), angles.sin()
        # (sin, cos) is turned the other way round than (cos, sin).
        torch.testing.assert_close(rotate_pairs(table[:-shift], cos, -sin), table[shift:])
    places = torch.arange(50).double()[:, None]
    numbers = torch.arange(16).double()
    for speeds in (10_000 ** (-2 * numbers / 16), 10_000 ** (numbers / 16)):
        angles = places * speeds
        misprinted = torch.where(numbers % 2 == 0, angles.sin(), angles.cos())
        assert rotation_error(misprinted, 7) > 1e-3
    # Waves are 2 pi long at first, and near 10000 times that at last.
    lengths = 2 * math.pi / pair_angles(2, 512)[1]
    assert float(lengths[0]) == pytest.approx(2 * math.pi)
    assert 0.9 < float(lengths[-1]) / (10_000 * 2 * math.pi) < 1


@pytest.mark.covers("pe-heatmap")
def test_columns_of_the_matrix_cross_zero_less_and_less_often() -> None:
    module = SinusoidalPositions(200, 32)
    table = sinusoidal_encoding(200, 32)
    torch.testing.assert_close(module(0, 200), table.float())
    sines = table[1:, 0::2]
    crossings = (sines[1:].sign() != sines[:-1].sign()).sum(dim=0)
    assert crossings[0] > 60
    assert bool((crossings[1:] <= crossings[:-1]).all())


def test_rows_can_be_asked_for_from_any_place_on() -> None:
    with seeded(0):
        modules = [SinusoidalPositions(9, 4), LearnedPositions(9, 4)]
    for module in modules:
        assert torch.equal(module(3, 2), module(0, 9)[3:5])
    assert not SinusoidalPositions(9, 4).state_dict()
    assert torch.equal(SinusoidalPositions(9, 4, scale=0.5)(0, 9), modules[0](0, 9) / 2)


def test_a_rotated_score_depends_on_the_distance_alone() -> None:
    rotary = Rotary(6, 40).double()
    numbers = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 1, 1, 1, 6, generator=numbers, dtype=torch.float64)

    def score(at: int, to: int) -> float:
        return float((rotary(query, at) * rotary(key, to)).sum())

    assert score(5, 2) == pytest.approx(score(38, 35), abs=1e-6)
    assert score(5, 2) != pytest.approx(score(5, 3), abs=1e-3)
    assert float(rotary(query, 17).norm()) == pytest.approx(float(query.norm()))
    assert torch.equal(rotary(query, 0), query)


def test_a_pair_turns_by_its_angle_as_worked_by_hand() -> None:
    x = torch.tensor([[1.0, 0.0, 0.0, 2.0]]).double()
    angles = torch.tensor([[math.pi / 2, math.pi]], dtype=torch.float64)
    turned = rotate_pairs(x, angles.cos(), angles.sin())
    torch.testing.assert_close(turned, torch.tensor([[0.0, 1.0, 0.0, -2.0]]).double())


def test_several_positions_turn_as_each_of_them_does() -> None:
    rotary = Rotary(4, 10)
    x = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(0))
    each = torch.cat([rotary(x[:, :, place : place + 1], 4 + place) for place in range(5)], dim=2)
    torch.testing.assert_close(rotary(x, 4), each)
    assert rotary(x.bfloat16(), 4).dtype == torch.bfloat16


def test_an_odd_number_of_features_is_refused() -> None:
    sentence = "rotary positions rotate pairs of features: wanted an even number, got 5"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        sinusoidal_encoding(3, 5)


@pytest.mark.covers("context-length-limits")
def test_positions_up_to_100_000_can_be_told_apart() -> None:
    drawn = torch.randperm(100_000, generator=torch.Generator().manual_seed(0))[:5000]
    code = sinusoidal_encoding(100_000, 64)[drawn]
    squares = code.square().sum(dim=1)
    gaps = squares[:, None] + squares - 2 * code @ code.T
    gaps.fill_diagonal_(torch.inf)
    row, other = divmod(int(gaps.argmin()), 5000)
    assert float((code[row] - code[other]).norm()) > 1e-3
    # The base bounds no positions, only how slowly the slowest pair turns: with two features alone
    # places that are a turn apart are the same.
    turns = sinusoidal_encoding(711, 2)
    assert float((turns[0] - turns[710]).norm()) < 1e-3  # 710 = 113 turns and a 10,000th
