"""Periodic embedding: the waves by hand, a layer for each number, and what it lets a model fit."""

import math
from collections.abc import Callable

import pytest
import torch

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.features.periodic_embedding import PeriodicEmbedding, waves
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def test_waves_by_hand() -> None:
    found = waves(torch.tensor([[0.25, 1.0]]), torch.tensor([[1.0, 2.0], [0.5, 0.0]]))
    wanted = [[[1, 0, 0, -1], [0, 0, -1, 1]]]  # sin(pi/2), sin(pi), cos(pi/2), cos(pi); ...
    torch.testing.assert_close(found, torch.tensor(wanted).float(), atol=1e-6, rtol=0)


def test_waves_repeat_after_one_over_their_frequency() -> None:
    x, frequencies = torch.randn(4, 1, dtype=torch.float64), torch.tensor([[0.7]]).double()
    torch.testing.assert_close(
        waves(x + 1 / 0.7, frequencies), waves(x, frequencies), atol=1e-6, rtol=0
    )


def test_each_number_has_a_layer_of_its_own() -> None:
    layer = PeriodicEmbedding(2, 3, 4, spread=0.5)
    x = torch.randn(5, 2)
    for place in range(2):
        angles = 2 * math.pi * x[:, place, None] * layer.frequencies[place]
        hidden = torch.cat((angles.sin(), angles.cos()), 1) @ layer.weight[place]
        torch.testing.assert_close(layer(x)[:, place], (hidden + layer.bias[place]).relu())


def test_what_is_refused() -> None:
    with pytest.raises(ConfigError, match="spread must be positive"):
        PeriodicEmbedding(1, 1, 1, spread=0)
    with pytest.raises(ConfigError, match="frequencies must be positive"):
        PeriodicEmbedding(1, 0, 1, spread=1)
    with pytest.raises(ShapeError, match=r"x must have shape \(B, 1\)"):
        PeriodicEmbedding(1, 1, 1, spread=1)(torch.zeros(2, 2))


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (PeriodicEmbedding(2, 3, 4, spread=0.5), torch.randn(3, 2)))
