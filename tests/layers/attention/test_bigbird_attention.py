"""BigBird: the plain formula with its mask, pairs by the formula, two steps between any two."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.bigbird_attention import (
    NONE,
    BigBirdAttention,
    BigBirdBlocks,
    bigbird_attention,
    bigbird_mask,
    bigbird_pairs,
    bigbird_table,
)
from netwright.layers.attention.position_encoding import Rotary
from tests.repetition import for_each


def draw(length: int) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(0)
    drawn = torch.randn(3, 2, 2, length, 4, generator=numbers, dtype=torch.float64)
    return drawn[0], drawn[1], drawn[2]


@for_each(("first", "drawn"), [(0, 0), (1, 0), (1, 2), (2, 1), (0, 3), (9, 1)])
@for_each(("length", "size"), [(24, 3), (23, 3), (7, 1), (5, 8)])
def test_blocks_read_what_the_plain_formula_reads_with_its_mask(
    length: int, size: int, first: int, drawn: int
) -> None:
    blocks = BigBirdBlocks(size, first, drawn, seed=3)
    queries, keys, values = (part.requires_grad_() for part in draw(length))
    plain = attend(scaled_dot_scores(queries, keys), values, bigbird_mask(length, blocks))
    found = bigbird_attention(queries, keys, values, blocks)
    torch.testing.assert_close(found, plain, rtol=1e-10, atol=1e-10)
    slopes = [
        torch.autograd.grad(out.square().sum(), (queries, keys, values)) for out in (found, plain)
    ]
    for one, other in zip(*slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.covers("bigbird")
def test_the_density_is_that_of_the_formula_and_a_global_block_makes_two_steps_enough() -> None:
    for count, size, first, drawn in ((8, 2, 1, 1), (16, 4, 2, 3), (40, 1, 0, 2), (3, 2, 1, 2)):
        blocks = BigBirdBlocks(size, first, drawn)
        mask = bigbird_mask(count * size, blocks)
        assert int(mask.sum()) == bigbird_pairs(count, blocks)
        within_two = (mask.float() @ mask.float()) > 0
        assert bool(within_two.all()) == (first > 0), (count, first)
    assert bigbird_pairs(64, BigBirdBlocks(16, 1, 3)) / (64 * 16) ** 2 == (64 + 63 * 7 - 2) / 64**2


def test_what_is_drawn_follows_from_the_seed_and_is_none_of_the_others() -> None:
    one, same = (bigbird_table(12, BigBirdBlocks(2, 1, 2, seed=5)) for _ in range(2))
    other = bigbird_table(12, BigBirdBlocks(2, 1, 2, seed=6))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    for block, row in enumerate(one.tolist()):
        read = [place for place in row if place != NONE]
        assert len(set(read)) == len(read)
        assert {0, block, min(block + 1, 11)} <= set(read)


def test_enough_drawn_blocks_are_full_attention() -> None:
    queries, keys, values = draw(12)
    dense = functional.scaled_dot_product_attention(queries, keys, values)
    found = bigbird_attention(queries, keys, values, BigBirdBlocks(2, 1, 9))
    torch.testing.assert_close(found, dense)


def test_heads_that_are_a_view_of_a_projection_are_read_as_a_copy_of_them_is() -> None:
    queries, *others = (part.transpose(1, 2).contiguous().transpose(1, 2) for part in draw(12))
    assert not queries.is_contiguous()
    found = bigbird_attention(queries, others[0], others[1], BigBirdBlocks(3))
    torch.testing.assert_close(found, bigbird_attention(*draw(12), BigBirdBlocks(3)))


def test_blocks_that_cannot_be_are_refused() -> None:
    none, size = BigBirdBlocks(0), r"^size must be at least 1, got 0$"
    with pytest.raises(ConfigError, match=size):
        bigbird_table(4, none)
    with pytest.raises(ConfigError, match=size):
        bigbird_mask(4, none)
    with pytest.raises(ConfigError, match=size):
        bigbird_attention(*draw(4), none)
    with pytest.raises(ConfigError, match=r"^random_blocks must be at least 0, got -1$"):
        bigbird_table(4, BigBirdBlocks(2, 1, -1))


def build(**settings: Any) -> BigBirdAttention:
    with seeded(0):
        return (
            BigBirdAttention(8, 2, blocks=BigBirdBlocks(2, 1, 1), longest=20, **settings)
            .double()
            .eval()
        )


@for_each("settings", [{}, {"rotary": Rotary(4, 20)}, {"kv_heads": 1}])
def test_the_layer_reads_by_its_weights_whatever_is_padding(settings: dict[str, Any]) -> None:
    layer = build(**settings)
    x = torch.randn(3, 13, 8, dtype=torch.float64)
    counted = torch.arange(13) < torch.tensor([13, 5, 0])[:, None]  # the last is padding alone
    for mask in (None, counted[:, None]):
        weights = layer.attention_weights(x, mask)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2, 13).double())
        read = x if mask is None else x * counted[:, :, None]
        _, _, values = layer._split(read)
        plain = layer._joined(weights @ layer._for_all_heads(values))
        torch.testing.assert_close(layer(x, mask), plain, rtol=1e-10, atol=1e-10)
    changed = x.clone()
    changed[1, 5:] = torch.nan  # padding is not read, whatever is there
    after = layer(changed, counted[:, None])
    torch.testing.assert_close(after[1, :5], layer(x, counted[:, None])[1, :5])


def test_padding_does_not_change_what_is_drawn() -> None:
    layer, x = build(), torch.randn(1, 11, 8, dtype=torch.float64)
    longer = torch.cat((x, torch.randn(1, 8, 8, dtype=torch.float64)), dim=1)
    counted = (torch.arange(19) < 11)[None, None]
    torch.testing.assert_close(layer(longer, counted)[:, :11], layer(x))


def test_it_reads_both_ways_and_takes_no_bias() -> None:
    with pytest.raises(ConfigError, match="reads both ways: it cannot be causal"):
        build(causal=True)
    for call in (lambda: build().start(1, 4), lambda: build().extend(torch.zeros(1, 1, 8), None)):
        with pytest.raises(ConfigError, match="nor say what comes next"):
            call()
    with pytest.raises(ShapeError, match=r"^texts have at most 20 tokens here, got 21$"):
        build()(torch.zeros(1, 21, 8).double())
    with pytest.raises(ConfigError, match="takes no bias of its scores"):
        build()(torch.zeros(1, 4, 8).double(), score_bias=torch.zeros(2, 4, 4))


def test_the_table_goes_where_the_weights_go_and_is_not_saved_with_them() -> None:
    layer = BigBirdAttention(8, 2, blocks=BigBirdBlocks(2, 1, 1), longest=20)
    assert "table" not in layer.state_dict()
    assert layer.double().table.dtype == torch.int64
    assert layer.to("meta").table.device.type == "meta"
    with torch.device("meta"):  # where weights are only described it is still drawn
        described = BigBirdAttention(8, 2, blocks=BigBirdBlocks(2, 1, 1), longest=20)
    assert torch.equal(described.table, bigbird_table(10, BigBirdBlocks(2, 1, 1)))
