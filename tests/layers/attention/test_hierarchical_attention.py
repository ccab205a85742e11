"""Hierarchical attention: one chunk is full attention, weights are those of the plain formula."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.inspection.inside.flops import counting_flops
from netwright.layers.attention.hierarchical_attention import (
    hierarchical_attention,
    hierarchical_pairs,
    hierarchical_weights,
)
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
