"""Multi-head attention: fused and plain are one, heads are attentions on parts of the features."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.masks import causal_mask, length_mask, padding_mask
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.position_encoding import Rotary
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def build(width: int = 8, heads: int = 4, seed: int = 0, **options: Any) -> MultiHeadAttention:
    """A layer with weights large enough that its heads look at different places."""
    with seeded(seed):
        layer = MultiHeadAttention(width, heads, **options).double()
        for weight in layer.parameters():
            nn.init.normal_(weight, std=0.7)
    return layer.eval()


def draw(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


def plain(
    layer: MultiHeadAttention, x: Tensor, mask: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """The layer by its weights: each head reads the values, then they are joined and mixed."""
    values = layer._split(x)[2].repeat_interleave(layer.heads // layer.kv_heads, dim=1)
    heads = layer.attention_weights(x, mask, bias) @ values
    joined: Tensor = layer.c_proj(heads.transpose(1, 2).flatten(2))
    return joined


@for_each("padded", [False, True])
@for_each("is_biased", [False, True])
@for_each("causal", [False, True])
@for_each(("kv_heads", "scale"), [(4, None), (2, 1.0), (1, 0.3)])
def test_the_fused_path_is_the_plain_formula_with_its_gradients(
    kv_heads: int, scale: float | None, causal: bool, is_biased: bool, padded: bool
) -> None:
    layer = build(kv_heads=kv_heads, causal=causal, rotary=Rotary(2, 6).double(), scale=scale)
    x = draw(3, 6, 8).requires_grad_()
    mask = length_mask(torch.tensor([6, 3, 1]), 6) if padded else None
    bias = draw(4, 6, 6, seed=2) if is_biased else None
    parts = [x, *layer.parameters()]
    shape = draw(3, 6, 8, seed=1)
    results = []
    for out in (layer(x, mask, bias), plain(layer, x, mask, bias)):
        results.append((out, *torch.autograd.grad((out * shape).sum(), parts)))
    for fused, by_formula in zip(*results, strict=True):
        torch.testing.assert_close(fused, by_formula, rtol=1e-10, atol=1e-10)


@pytest.mark.covers("multi-head-attention")
def test_heads_are_attentions_on_parts_of_one_projection_and_are_mixed_at_last() -> None:
    with torch.device("meta"):
        first = MultiHeadAttention(512, 8)
    assert first.head_size == 64
    assert sum(weight.numel() for weight in first.parameters()) == 1_050_624

    x = draw(2, 5, 8)
    single = build(heads=1)
    queries, keys, values = single.c_attn(x).chunk(3, dim=-1)
    torch.testing.assert_close(
        single(x), single.c_proj(attend(scaled_dot_scores(queries, keys), values))
    )
    several = build(heads=4)
    weights, biases = several.c_attn.weight.chunk(3), several.c_attn.bias.chunk(3)
    heads = []
    for head in range(4):
        rows = slice(2 * head, 2 * head + 2)
        q, k, v = (x @ w[rows].T + b[rows] for w, b in zip(weights, biases, strict=True))
        heads.append(attend(q @ k.mT / math.sqrt(2), v))
    torch.testing.assert_close(several(x), several.c_proj(torch.cat(heads, dim=-1)))


def test_it_is_torchs_own_layer_with_the_same_weights() -> None:
    layer = build(heads=2)
    reference = nn.MultiheadAttention(8, 2, batch_first=True).double()
    reference.load_state_dict(
        {
            "in_proj_weight": layer.c_attn.weight,
            "in_proj_bias": layer.c_attn.bias,
            "out_proj.weight": layer.c_proj.weight,
            "out_proj.bias": layer.c_proj.bias,
        }
    )
    x = draw(3, 5, 8)
    wanted, weights = reference(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(layer(x), wanted)
    torch.testing.assert_close(layer.attention_weights(x), weights)


def test_grouped_heads_are_the_same_heads_repeated() -> None:
    grouped, full = build(kv_heads=2), build()
    split = [2 * count for count in (4, 2, 2)]
    with torch.no_grad():
        for ours, theirs in (
            (grouped.c_attn.weight, full.c_attn.weight),
            (grouped.c_attn.bias, full.c_attn.bias),
        ):
            queries, *shared = torch.split(ours, split)
            copies = [part[[0, 1, 0, 1, 2, 3, 2, 3]] for part in shared]  # each of its 2 features
            theirs.copy_(torch.cat([queries, *copies]))
        full.c_proj.load_state_dict(grouped.c_proj.state_dict())
    x = draw(2, 5, 8)
    torch.testing.assert_close(grouped(x), full(x))
    assert grouped.start(3, 7).keys.shape == (3, 2, 7, 2)


@pytest.mark.covers("self-attention")
def test_every_output_depends_on_every_position() -> None:
    layer, x = build(), draw(1, 4, 8)
    for place in range(4):
        moved = x.clone()
        moved[0, place, 0] += 1e-4
        slopes = ((layer(moved) - layer(x)) / 1e-4).norm(dim=-1)
        assert bool((slopes > 1e-4).all()), place
    assert torch.autograd.gradcheck(layer, x[:, :3].requires_grad_())


def test_a_causal_layer_never_looks_ahead() -> None:
    layer, x = build(causal=True), draw(2, 6, 8)
    weights = layer.attention_weights(x)
    assert bool((weights[:, :, ~causal_mask(6)] == 0).all())
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 4, 6).double())
    changed = x.clone()
    changed[:, 4:] += 1
    assert torch.equal(layer(changed)[:, :4], layer(x)[:, :4])


def test_a_bias_of_the_scores_is_added_before_the_softmax() -> None:
    layer, x = build(scale=0.3), draw(2, 5, 8)
    bias = draw(4, 5, 5, seed=1)
    queries, keys, _ = layer._split(x)
    wanted = (0.3 * queries @ keys.mT + bias).softmax(dim=-1)
    torch.testing.assert_close(layer.attention_weights(x, None, bias), wanted)


@for_each("is_biased", [False, True])
@for_each("is_padded", [False, True])
@for_each("parts", [(6,), (1,) * 6, (3, 1, 1, 1), (2, 3, 1)], ids=str)
@for_each("kv_heads", [4, 2])
def test_reading_on_from_a_cache_is_reading_the_whole(
    parts: tuple[int, ...], kv_heads: int, is_padded: bool, is_biased: bool
) -> None:
    layer = build(causal=True, kv_heads=kv_heads, rotary=Rotary(2, 6).double())
    x, cache = draw(2, 6, 8), layer.start(2, 6)
    bias, mask = draw(4, 6, 6, seed=1) if is_biased else None, None
    if is_padded:
        cache = cache._replace(first=torch.tensor([0, 2]))
        mask = padding_mask(torch.arange(6) >= torch.tensor([0, 2])[:, None])
    outs, start = [], 0
    with torch.no_grad():
        for part in torch.split(x, list(parts), dim=1):
            stop = start + part.shape[1]
            here = None if bias is None else bias[:, start:stop, :stop]
            out, cache = layer.extend(part, cache, here)
            outs.append(out)
            start = stop
    torch.testing.assert_close(torch.cat(outs, dim=1), layer(x, mask, bias), rtol=1e-10, atol=1e-10)


@pytest.mark.covers("gpu-matmul")
@for_each("causal", [False, True])
def test_one_masked_product_gives_what_a_loop_over_the_texts_gives(causal: bool) -> None:
    layer, lengths = build(causal=causal), [5, 1, 3, 6]
    x = draw(4, 6, 8)
    together = layer(x, length_mask(torch.tensor(lengths), 6))
    for row, length in enumerate(lengths):
        alone = layer(x[row : row + 1, :length])[0]
        torch.testing.assert_close(together[row, :length], alone, rtol=0, atol=1e-12)


def test_a_row_of_padding_alone_gives_no_nan() -> None:
    layer, mask = build(), length_mask(torch.tensor([0, 3]), 4)
    x = draw(2, 4, 8)
    assert bool(layer(x, mask).isfinite().all())
    assert bool((layer.attention_weights(x, mask)[0] == 0).all())


@pytest.mark.parametrize("causal", [False, True])
def test_padding_that_is_nan_leaves_no_trace_in_values_and_gradients(causal: bool) -> None:
    layer, lengths = build(causal=causal), torch.tensor([2, 4])
    beyond = torch.arange(4) >= lengths[:, None]

    def everything(number: float) -> list[Tensor]:
        x = draw(2, 4, 8).masked_fill(beyond[:, :, None], number).requires_grad_()
        out = layer(x, length_mask(lengths, 4))
        return [out, *torch.autograd.grad(out.square().sum(), [x, *layer.parameters()])]

    for found, wanted in zip(everything(math.nan), everything(0.5), strict=True):
        assert torch.equal(found, wanted)


def test_dropout_works_while_training_only() -> None:
    layer, x = build(dropout=0.5), draw(2, 4, 8)
    assert torch.equal(layer(x), build()(x))
    with seeded(0):
        assert not torch.equal(layer.train()(x), layer(x))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"heads": 3}, "heads must divide the width, got 3 heads and a width of 8"),
        ({"kv_heads": 3}, "kv_heads must divide heads, got 3 of 4"),
    ],
)
def test_heads_that_do_not_divide_are_refused(options: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        build(**options)


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (MultiHeadAttention(4, 2, kv_heads=1, causal=True), torch.randn(2, 3, 4)))
