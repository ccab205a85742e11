"""The position-wise feed-forward network: the same map at every position."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

from netwright.core.seeding import seeded
from netwright.layers.attention.feedforward import FeedForward, GatedFeedForward
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


@pytest.mark.covers("position-wise-ffn")
def test_it_is_a_loop_over_positions_and_has_two_million_weights_at_the_first_size() -> None:
    with torch.device("meta"):
        first = FeedForward(512, 2048, nn.ReLU())
    assert sum(weight.numel() for weight in first.parameters()) == 2_099_712
    with seeded(0):
        layer, x = FeedForward(4, 7, nn.ReLU()), torch.randn(2, 5, 4)
    each = torch.stack([layer(x[:, place]) for place in range(5)], dim=1)
    torch.testing.assert_close(layer(x), each)
    # ... which is a convolution with windows of one position.
    out = functional.conv1d(x.mT, layer.c_fc.weight[:, :, None], layer.c_fc.bias).relu()
    out = functional.conv1d(out, layer.c_proj.weight[:, :, None], layer.c_proj.bias)
    torch.testing.assert_close(layer(x), out.mT)


def test_biases_can_be_left_out() -> None:
    layer = FeedForward(3, 6, nn.GELU(), bias=False)
    assert [name for name, _ in layer.named_parameters()] == ["c_fc.weight", "c_proj.weight"]


def test_a_gate_scales_what_the_other_map_makes() -> None:
    with seeded(0):
        layer, x = GatedFeedForward(3, 6, nn.GELU(), bias=False), torch.randn(2, 4, 3)
    gate, hidden = functional.gelu(x @ layer.c_gate.weight.T), x @ layer.c_fc.weight.T
    torch.testing.assert_close(layer(x), (gate * hidden) @ layer.c_proj.weight.T)


@for_each("kind", [FeedForward, GatedFeedForward])
@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None], kind: type[FeedForward]) -> None:
    check(lambda: (kind(3, 5, nn.GELU()), torch.randn(2, 4, 3)))
