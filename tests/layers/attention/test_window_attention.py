"""Sliding windows: the plain formula with its mask, pairs that are counted, nothing ahead."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.window_attention import (
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
