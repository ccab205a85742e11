"""Sinusoidal positions: the rotation by hand, and encodings that no map shifts."""

import math

import pytest
import torch

from netwright.layers.attention.position_encoding import sinusoidal_encoding
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.attention.position_rotation import (
    POSITION_ROTATION,
    misprinted,
    missed_by_any_map,
    missed_by_turning,
)
from netwright.theory.misprints.attention import FEATURES


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(POSITION_ROTATION)


@pytest.mark.covers("positional-encoding")
def test_the_first_position_the_wavelengths_the_rotation_and_the_misprints() -> None:
    encoding = sinusoidal_encoding(60, FEATURES)
    assert torch.equal(encoding[0], torch.tensor([0.0, 1.0] * (FEATURES // 2)).double())
    speeds = encoding[1, 0::2].asin()  # the sine at position 1
    wavelengths = 2 * math.pi / speeds
    assert float(wavelengths[0]) == pytest.approx(2 * math.pi)
    longest = 2 * math.pi * 10_000 ** (1 - 2 / FEATURES)  # toward 10000 * 2 pi with more features
    assert float(wavelengths[-1]) == pytest.approx(longest)
    pairs = encoding.view(60, -1, 2)
    assert missed_by_turning(pairs, 7) < 1e-10
    assert missed_by_any_map(pairs, 7) < 1e-10
    for wrong in misprinted().values():
        assert missed_by_any_map(wrong, 7) > 0.75


def test_turning_by_a_quarter_by_hand() -> None:
    angles = torch.arange(8, dtype=torch.float64)[:, None].expand(8, FEATURES // 2)
    same_speed = torch.stack((angles.sin(), angles.cos()), dim=2)
    assert missed_by_any_map(same_speed, 3) < 1e-12
    assert missed_by_turning(same_speed, 3) > 0.1  # pairs do not all run at the speed 1
    assert missed_by_turning(same_speed[:, :1].expand(8, 8, 2), 3) > 0.1


def test_the_chart_names_the_encodings_that_it_shows() -> None:
    names = [f"speeds {name}" for name in misprinted()]
    right = "speeds 10000^(-2i/D), i the pair"
    shown = [one.name for one in POSITION_ROTATION.check().chart.series]
    assert shown == ["rounding", right, *names]
    shown = [one.name for one in POSITION_ROTATION.check(shared_speed=False).chart.series]
    assert shown == ["rounding", *names]


@pytest.mark.parametrize("place", [0, 1], ids=["exponent", "frequency"])
def test_a_misprinted_encoding_turns_the_verdict(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = list(misprinted().values())[place].flatten(1)
    monkeypatch.setattr(
        "netwright.theory.attention.position_rotation.sinusoidal_encoding", lambda *shape: wrong
    )
    assert not POSITION_ROTATION.check().holds
