"""Hierarchical attention: one chunk is full attention, weights are those of the plain formula."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.inspection.inside.flops import counting_flops
from netwright.layers.attention.hierarchical_attention import (
    HierarchicalAttention,
    hierarchical_attention,
    hierarchical_pairs,
    hierarchical_weights,
)
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.position_encoding import Rotary
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def draw(length: int) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(0)
    drawn = torch.randn(3, 2, 2, length, 4, generator=numbers, dtype=torch.float64)
    return drawn[0], drawn[1], drawn[2]


@for_each(("length", "chunk"), [(12, 3), (13, 3), (5, 8), (4, 1), (1, 2)])
def test_places_read_by_the_plain_weights_which_are_distributions(length: int, chunk: int) -> None:
    queries, keys, values = draw(length)
    weights = hierarchical_weights(queries, keys, chunk)
    found = hierarchical_attention(queries, keys, values, chunk)
    torch.testing.assert_close(found, weights @ values, rtol=1e-10, atol=1e-10)
    assert bool((weights > 0).all())
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 2, length).double())


@pytest.mark.covers("hierarchical-attention")
def test_one_chunk_is_full_attention_and_the_cost_is_that_of_the_formula() -> None:
    queries, keys, values = draw(10)
    full = functional.scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(hierarchical_attention(queries, keys, values, 10), full)
    for length, chunk in ((12, 3), (32, 4), (64, 16)):
        queries, keys, values = (part[:1, :1].float() for part in draw(length))
        with counting_flops() as counter:
            hierarchical_attention(queries, keys, values, chunk)
        # Scores and what is read by them: a product of 4 features each.
        assert counter.get_total_flops() == 2 * 2 * 4 * hierarchical_pairs(length, chunk)
        assert hierarchical_pairs(length, chunk) == length * chunk + (length / chunk) ** 2


def test_other_chunks_are_read_as_a_whole() -> None:
    queries, keys, _ = draw(9)
    weights = hierarchical_weights(queries, keys, 3)
    for place in (1, 2):  # of the first chunk all read the second alike
        torch.testing.assert_close(weights[:, :, 0, 3:], weights[:, :, place, 3:])
        assert not torch.allclose(weights[:, :, 0, :3], weights[:, :, place, :3])


def test_a_chunk_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^chunk must be at least 1, got 0$"):
        hierarchical_attention(*draw(4), 0)


def build(chunk: int = 3, **settings: Any) -> HierarchicalAttention:
    with seeded(0):
        return HierarchicalAttention(8, 2, chunk=chunk, **settings).double().eval()


@for_each("settings", [{}, {"rotary": Rotary(4, 20)}, {"kv_heads": 1}])
def test_the_layer_reads_by_its_weights_whatever_is_padding(settings: dict[str, Any]) -> None:
    layer = build(**settings)
    x = torch.randn(4, 13, 8, dtype=torch.float64)
    counted = torch.arange(13) < torch.tensor([13, 5, 6, 0])[:, None]  # the last is padding alone
    for mask in (None, counted[:, None]):
        weights = layer.attention_weights(x, mask)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(4, 2, 13).double())
        read = x if mask is None else x * counted[:, :, None]
        _, _, values = layer._split(read)
        plain = layer._joined(weights @ layer._for_all_heads(values))
        torch.testing.assert_close(layer(x, mask), plain, rtol=1e-10, atol=1e-10)
    changed = x.clone()
    changed[1, 5:] = torch.nan  # padding is not read, whatever is there
    after = layer(changed, counted[:, None])
    torch.testing.assert_close(after[1, :5], layer(x, counted[:, None])[1, :5])


@for_each("length", [1, 4, 6, 7])
def test_padding_behind_a_text_changes_nothing(length: int) -> None:
    layer, x = build(), torch.randn(1, 14, 8, dtype=torch.float64)
    mask = (torch.arange(14) < length)[None, None]
    torch.testing.assert_close(layer(x, mask)[:, :length], layer(x[:, :length]))


def test_padding_in_front_is_not_read() -> None:
    layer, x = build(), torch.randn(1, 8, 8, dtype=torch.float64)
    mask = (torch.arange(8) >= 4)[None, None]  # the second chunk begins with padding
    changed = x.clone()
    changed[:, :4] += 1
    torch.testing.assert_close(layer(changed, mask)[:, 4:], layer(x, mask)[:, 4:])
    assert bool((layer.attention_weights(x, mask)[:, :, 4:, :4] == 0).all())


def test_with_one_chunk_it_is_the_layer_of_full_attention() -> None:
    layer, x = build(chunk=9), torch.randn(2, 9, 8, dtype=torch.float64)
    full = MultiHeadAttention(8, 2).double().eval()
    full.load_state_dict(layer.state_dict())
    mask = (torch.arange(9) < torch.tensor([[9], [4]]))[:, None]
    torch.testing.assert_close(layer(x, mask)[1, :4], full(x, mask)[1, :4])
    torch.testing.assert_close(layer(x), full(x))


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_the_layer_keeps_the_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (HierarchicalAttention(8, 2, chunk=3), torch.randn(2, 7, 8)))


@for_each("has_mask", [False, True])
def test_a_batch_of_no_texts_is_read_as_one(has_mask: bool) -> None:
    layer, x = build(), torch.zeros(0, 7, 8).double()
    mask = torch.ones(0, 1, 7, dtype=torch.bool) if has_mask else None
    assert layer(x, mask).shape == (0, 7, 8)
    assert layer.attention_weights(x, mask).shape == (0, 2, 7, 7)


def test_without_padding_one_mask_is_for_all_texts_and_heads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shapes: list[tuple[int, ...]] = []
    attend: Callable[..., Tensor] = functional.scaled_dot_product_attention

    def noting(*parts: Tensor, **settings: Any) -> Tensor:
        shapes.append(tuple(settings["attn_mask"].shape))
        return attend(*parts, **settings)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", noting)
    queries, keys, values = draw(7)
    hierarchical_attention(queries, keys, values, 3)
    hierarchical_attention(queries, keys, values, 3, counted=torch.ones(2, 7).bool())
    assert shapes == [(1, 3, 3, 3), (4, 3, 3, 3)]


def test_dropout_is_for_training_alone() -> None:
    layer, x = build(dropout=0.5), torch.randn(1, 7, 8, dtype=torch.float64)
    assert torch.equal(layer(x), build()(x))
    assert not torch.equal(layer.train()(x), layer(x))


def test_the_layer_is_not_causal_keeps_no_cache_and_takes_no_bias() -> None:
    for refused in (lambda: build(causal=True), lambda: build().start(1, 4)):
        with pytest.raises(ConfigError, match=r"^hierarchical attention reads both ways: it cann"):
            refused()
    with pytest.raises(ConfigError, match=r"reads both ways"):
        build().extend(torch.zeros(1, 1, 8).double(), None)
    with pytest.raises(ConfigError, match=r"^hierarchical attention takes no bias of its scores$"):
        build()(torch.zeros(1, 4, 8).double(), None, torch.zeros(2, 4, 4))
