"""Sliding windows: the plain formula with its mask, pairs that are counted, nothing ahead."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.position_encoding import Rotary
from netwright.layers.attention.relative_positions import AlibiBias
from netwright.layers.attention.window_attention import (
    WindowAttention,
    window_attention,
    window_mask,
    window_pairs,
)
from tests.repetition import for_each


def draw(length: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    drawn = torch.randn(3, 2, 2, length, 4, generator=numbers, dtype=torch.float64)
    return drawn[0], drawn[1], drawn[2]


@for_each("is_causal", [False, True])
@for_each("global_tokens", [0, 1, 3, 20])
@for_each(("length", "window"), [(12, 3), (13, 3), (5, 4), (7, 1), (6, 9), (1, 2)])
def test_blocks_read_what_the_plain_formula_reads_with_its_mask(
    length: int, window: int, global_tokens: int, is_causal: bool
) -> None:
    queries, keys, values = (part.requires_grad_() for part in draw(length))
    mask = window_mask(length, window, global_tokens, is_causal=is_causal)
    plain = attend(scaled_dot_scores(queries, keys), values, mask)
    found = window_attention(
        queries, keys, values, window, global_tokens=global_tokens, is_causal=is_causal
    )
    torch.testing.assert_close(found, plain, rtol=1e-10, atol=1e-10)
    slopes = [
        torch.autograd.grad(out.square().sum(), (queries, keys, values)) for out in (found, plain)
    ]
    for one, other in zip(*slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.covers("longformer", "sparse-attention")
def test_a_wide_window_is_dense_and_pairs_are_counted_and_a_global_token_sees_all() -> None:
    queries, keys, values = draw(9)
    dense = functional.scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(window_attention(queries, keys, values, 9), dense)
    for length, window, count in ((9, 2, 0), (9, 2, 1), (9, 2, 4), (5, 7, 2), (30, 3, 5)):
        mask = window_mask(length, window, count)
        assert int(mask.sum()) == window_pairs(length, window, count)
        assert bool(mask[:count].all())
        assert bool(mask[:, :count].all())
    assert window_pairs(100, 5) == 100 * 11 - 5 * 6


def test_what_comes_later_changes_nothing_also_through_global_tokens() -> None:
    before, after = draw(10), draw(10)
    for part in after:
        part[:, :, 6:] += 1
    for count in (0, 2, 8):
        one, other = (
            window_attention(*parts, 2, global_tokens=count, is_causal=True)
            for parts in (before, after)
        )
        assert torch.equal(one[:, :, :6], other[:, :, :6])
        assert not torch.equal(one[:, :, 6:], other[:, :, 6:])


def test_the_scale_is_heeded_by_near_and_global_queries() -> None:
    queries, keys, values = draw(7)
    wanted = window_attention(0.5 * queries, keys, values, 2, global_tokens=1)
    found = window_attention(queries, keys, values, 2, global_tokens=1, scale=0.5 * 4**-0.5)
    torch.testing.assert_close(found, wanted)


def test_windows_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^window must be at least 1, got 0$"):
        window_attention(*draw(4), 0)
    with pytest.raises(ConfigError, match=r"^global_tokens must be at least 0, got -1$"):
        window_attention(*draw(4), 1, global_tokens=-1)


@for_each("is_causal", [False, True])
@for_each("is_biased", [False, True])
@for_each(("length", "window", "count"), [(9, 2, 0), (9, 2, 3), (4, 7, 1)])
def test_the_layer_reads_by_the_weights_that_it_shows(
    length: int, window: int, count: int, is_biased: bool, is_causal: bool
) -> None:
    torch.manual_seed(0)
    layer = WindowAttention(
        8, 4, window=window, global_tokens=count, kv_heads=2, causal=is_causal
    ).double()
    x = torch.randn(3, length, 8, dtype=torch.float64)
    mask = torch.ones(3, 1, length, dtype=torch.bool)
    mask[1, :, 3:] = False
    mask[2, :, 2] = False
    x[~mask[:, 0]] = torch.nan  # what is not counted is not read
    bias = AlibiBias(4).double().by_distance(length) if is_biased else None
    found = layer(x, mask, bias)[mask[:, 0]]
    filled = x.nan_to_num()
    values = layer.c_attn(filled)[..., 12:].unflatten(-1, (2, 2)).transpose(1, 2)
    weights = layer.attention_weights(x, mask, bias)
    read = weights @ values.repeat_interleave(2, dim=1)
    wanted = layer.c_proj(read.transpose(1, 2).flatten(2))[mask[:, 0]]
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    rows = window_mask(length, window, count, is_causal=is_causal)
    assert bool((weights[0].masked_fill(rows, 0) == 0).all())
    assert bool((weights[0] > 0)[:, rows].all())


def test_weights_of_a_text_behind_padding_are_its_own() -> None:
    torch.manual_seed(0)
    layer = WindowAttention(4, 2, window=1, global_tokens=1, causal=True).double()
    x = torch.randn(1, 6, 4, dtype=torch.float64)
    mask = torch.tensor([[[False, False, True, True, True, True]]])
    padded = layer.attention_weights(x, mask)[:, :, 2:, 2:]
    torch.testing.assert_close(padded, layer.attention_weights(x[:, 2:]))


@for_each("turns", [False, True])
def test_a_step_reads_the_window_and_the_first_alone(turns: bool) -> None:
    torch.manual_seed(0)
    rotary = Rotary(2, 12).double() if turns else None
    layer = WindowAttention(4, 2, window=2, global_tokens=1, causal=True, rotary=rotary).double()
    x = torch.randn(2, 9, 4, dtype=torch.float64)
    whole = layer(x)
    read, cache = layer.extend(x[:, :5], layer.start(2, 12)._replace(first=None))
    torch.testing.assert_close(read, whole[:, :5])
    cache.keys[:, :, 1:3] = torch.nan  # neither near to what follows nor global
    several, cache = layer.extend(x[:, 5:7], cache)
    one, cache = layer.extend(x[:, 7:8], cache)
    torch.testing.assert_close(torch.cat((several, one), dim=1), whole[:, 5:8])
    assert cache.length == 8


def test_a_mask_of_pairs_is_refused() -> None:
    layer = WindowAttention(4, 2, window=1)
    with pytest.raises(ShapeError, match=r"mask of keys alone, \(B, 1, T\), got \(1, 3, 3\)$"):
        layer(torch.zeros(1, 3, 4), torch.ones(1, 3, 3, dtype=torch.bool))
