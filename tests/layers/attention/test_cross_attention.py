"""Cross-attention: torch's own with the same weights, the plain formula, and padding not read."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.masks import length_mask
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def build(**options: float) -> CrossAttention:
    with seeded(0):
        layer = CrossAttention(8, 2, **options).double()  # type: ignore[arg-type]
        for weight in layer.parameters():
            nn.init.normal_(weight, std=0.7)
    return layer.eval()


def draw(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


def test_it_is_torchs_own_layer_with_the_same_weights() -> None:
    layer = build()
    reference = nn.MultiheadAttention(8, 2, batch_first=True).double()
    reference.load_state_dict(
        {
            "in_proj_weight": torch.cat((layer.q_attn.weight, layer.c_attn.weight)),
            "in_proj_bias": torch.cat((layer.q_attn.bias, layer.c_attn.bias)),
            "out_proj.weight": layer.c_proj.weight,
            "out_proj.bias": layer.c_proj.bias,
        }
    )
    x, memory, mask = draw(3, 4, 8), draw(3, 5, 8, seed=1), length_mask(torch.tensor([5, 3, 1]), 5)
    wanted, weights = reference(
        x, memory, memory, key_padding_mask=~mask[:, 0], average_attn_weights=False
    )
    projected = layer.project(memory, mask)
    torch.testing.assert_close(layer(x, projected), wanted)
    torch.testing.assert_close(layer.attention_weights(x, projected), weights)


def test_the_fused_path_is_the_plain_formula_at_any_scale() -> None:
    layer, x, memory = build(scale=1.0), draw(2, 3, 8), draw(2, 4, 8, seed=1)
    projected = layer.project(memory)
    heads = layer.attention_weights(x, projected) @ projected.values
    torch.testing.assert_close(layer(x, projected), layer.c_proj(heads.transpose(1, 2).flatten(2)))
    assert not torch.allclose(layer(x, projected), build()(x, build().project(memory)))


def test_padding_of_the_memory_that_is_nan_leaves_no_trace() -> None:
    layer, x, mask = build(), draw(2, 3, 8), length_mask(torch.tensor([2, 4]), 4)

    def everything(number: float) -> list[Tensor]:
        memory = draw(2, 4, 8, seed=1).masked_fill(~mask.mT, number).requires_grad_()
        out = layer(x, layer.project(memory, mask))
        return [out, *torch.autograd.grad(out.square().sum(), [memory, *layer.parameters()])]

    for found, wanted in zip(everything(math.nan), everything(0.5), strict=True):
        assert torch.equal(found, wanted)


def test_a_memory_of_padding_alone_gives_no_nan() -> None:
    layer, mask = build(), length_mask(torch.tensor([0, 3]), 4)
    projected = layer.project(draw(2, 4, 8), mask)
    assert bool(layer(draw(2, 3, 8), projected).isfinite().all())
    assert bool((layer.attention_weights(draw(2, 3, 8), projected)[0] == 0).all())


def test_dropout_works_while_training_only() -> None:
    layer, x = build(dropout=0.5), draw(2, 4, 8)
    projected = layer.project(x)
    assert torch.equal(layer(x, projected), layer(x, projected))
    with seeded(0):
        assert not torch.equal(layer.train()(x, projected), layer(x, projected))


def test_heads_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^heads must divide the width, got 3 heads and a width"):
        CrossAttention(8, 3)


class _OfItself(nn.Module):
    """The layer with its input as its memory, so that the contract of layers can call it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = CrossAttention(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        read: Tensor = self.layer(x, self.layer.project(x))
        return read


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (_OfItself(), torch.randn(2, 3, 4)))
