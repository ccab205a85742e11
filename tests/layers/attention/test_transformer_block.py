"""The transformer block: where the norms stand, what is added, and what a stack lets through."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.masks import length_mask
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def build(
    width: int = 8, heads: int = 2, hidden: int = 12, *, causal: bool = False, **options: Any
) -> TransformerBlock:
    attn = MultiHeadAttention(width, heads, causal=causal)
    return TransformerBlock(attn, FeedForward(width, hidden, nn.ReLU()), **options)


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.covers("transformer-encoder-layer")
def test_the_post_norm_block_is_the_layer_of_2017() -> None:
    with torch.device("meta"):
        first = build(512, 8, 2048, pre_norm=False)
    assert sum(weight.numel() for weight in first.parameters()) == 3_152_384
    with seeded(0):
        block = build(pre_norm=False).double()
    x = draw(2, 5, 8).double()
    middle = block.ln_1(x + block.attn(x))
    torch.testing.assert_close(block(x), block.ln_2(middle + block.mlp(middle)))
    order = torch.tensor([2, 0, 4, 1, 3])  # without positions it does not know the order
    torch.testing.assert_close(block(x[:, order]), block(x)[:, order])
    assert torch.autograd.gradcheck(block, x[:1, :3].requires_grad_())


@pytest.mark.parametrize("pre_norm", [False, True])
def test_it_is_torchs_own_layer_with_the_same_weights(pre_norm: bool) -> None:
    with seeded(0):
        block = build(pre_norm=pre_norm).double()
        for weight in block.parameters():
            nn.init.normal_(weight, std=0.5)
    names = {
        "self_attn.in_proj_": "attn.c_attn.",
        "self_attn.out_proj.": "attn.c_proj.",
        "linear1.": "mlp.c_fc.",
        "linear2.": "mlp.c_proj.",
        "norm1.": "ln_1.",
        "norm2.": "ln_2.",
    }
    reference = nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0.0, batch_first=True, norm_first=pre_norm
    ).double()
    own = block.state_dict()
    reference.load_state_dict(
        {
            their + kind: own[our + kind]
            for their, our in names.items()
            for kind in ("weight", "bias")
        }
    )
    x = draw(3, 5, 8).double()
    torch.testing.assert_close(block(x), reference(x))


@pytest.mark.covers("add-and-norm")
def test_parts_that_give_nothing_leave_the_norm_or_x_itself_and_gradients_pass_twelve_blocks() -> (
    None
):
    x = draw(2, 5, 8)
    for pre_norm in (False, True):
        with seeded(0):
            block = build(pre_norm=pre_norm)
            stack = nn.Sequential(*(build(pre_norm=pre_norm) for _ in range(12)))
        for part in (block.attn.c_proj, block.mlp.c_proj):
            nn.init.zeros_(part.weight)
            nn.init.zeros_(part.bias)
        wanted = x if pre_norm else block.ln_2(block.ln_1(x))
        torch.testing.assert_close(block(x), wanted)
        torch.testing.assert_close(block(x), x if pre_norm else block.ln_1(x), atol=1e-4, rtol=0)
        start = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(stack(start).square()[..., 0].sum(), start)
        assert float(slope.norm()) > 1e-3


@pytest.mark.parametrize("pre_norm", [False, True])
def test_padding_that_is_nan_leaves_no_trace_in_values_and_gradients(pre_norm: bool) -> None:
    with seeded(0):
        block = build(pre_norm=pre_norm)
    mask = length_mask(torch.tensor([2, 4]), 4)

    def everything(number: float) -> list[Tensor]:
        x = draw(2, 4, 8).masked_fill(~mask.mT, number).requires_grad_()
        out = block(x, mask)
        return [out, *torch.autograd.grad(out.square().sum(), [x, *block.parameters()])]

    for found, wanted in zip(everything(math.nan), everything(0.5), strict=True):
        assert torch.equal(found, wanted)


def test_reading_on_from_a_cache_is_reading_the_whole() -> None:
    for pre_norm in (False, True):
        with seeded(0):
            block = build(causal=True, pre_norm=pre_norm).double()
        x, cache, outs = draw(2, 4, 8).double(), block.attn.start(2, 4), []
        with torch.no_grad():
            for part in torch.split(x, [2, 1, 1], dim=1):
                out, cache = block.extend(part, cache)
                outs.append(out)
        torch.testing.assert_close(torch.cat(outs, dim=1), block(x), rtol=1e-10, atol=1e-10)


def test_what_is_added_is_dropped_while_training_only() -> None:
    with seeded(0):
        block, x = build(dropout=0.5), draw(2, 5, 8)
        assert not torch.equal(block(x), block(x))
        block.eval()
        assert torch.equal(block(x), block(x))


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
@for_each("pre_norm", [False, True])
def test_keeps_the_layer_contract(check: Callable[[Build], None], pre_norm: bool) -> None:
    check(lambda: (build(4, 2, 5, pre_norm=pre_norm), torch.randn(2, 3, 4)))
