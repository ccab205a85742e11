"""Attention by hand: torch's own, masks, and the softmax's Jacobian without its matrix."""

from functools import partial

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from netwright.backprop.attention import (
    attention_backward,
    attention_forward,
    softmax_backward,
)
from netwright.core.errors import ShapeError
from netwright.layers.attention.masks import causal_mask
from netwright.layers.softmax import softmax, softmax_jacobian
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_are_those_of_torchs_attention(is_causal: bool) -> None:
    parts = (numbers(2, 3, 5, 4), numbers(2, 3, 5, 4, seed=1), numbers(2, 3, 5, 6, seed=2))
    delta = numbers(2, 3, 5, 6, seed=3)
    mask = causal_mask(5) if is_causal else None
    read, kept = attention_forward(*parts, mask)
    assert_equal(read, scaled_dot_product_attention(*parts, attn_mask=mask))
    found = attention_backward(kept, delta)
    reference = partial(scaled_dot_product_attention, attn_mask=mask)
    expected = autograd_gradients(reference, parts, delta)
    for ours, theirs in zip((found.queries, found.keys, found.values), expected, strict=True):
        assert_equal(ours, theirs)


@for_each("shared", ["queries", "keys", "values", "queries and keys"])
def test_the_gradient_of_what_a_batch_shares_is_summed_over_it(shared: str) -> None:
    whole = {"queries": numbers(2, 4, 3), "keys": numbers(2, 5, 3), "values": numbers(2, 5, 6)}
    given = {name: part[0] if name in shared else part for name, part in whole.items()}
    delta = numbers(2, 4, 6, seed=3)
    _, kept = attention_forward(**given)
    found = attention_backward(kept, delta)
    expected = autograd_gradients(scaled_dot_product_attention, list(given.values()), delta)
    for ours, theirs in zip((found.queries, found.keys, found.values), expected, strict=True):
        assert_equal(ours, theirs)


def test_a_query_that_may_see_nothing_moves_nothing() -> None:
    parts = (numbers(2, 4), numbers(3, 4, seed=1), numbers(3, 4, seed=2))
    mask = torch.tensor([[True, True, False], [False, False, False]])
    _, kept = attention_forward(*parts, mask)
    found = attention_backward(kept, numbers(2, 4, seed=3))
    assert not found.queries[1].any()
    assert not found.keys[2].any()
    assert not found.values[2].any()
    assert found.queries[0].abs().min() > 0


def test_the_softmaxs_product_is_that_with_its_jacobian() -> None:
    chances, delta = softmax(numbers(5, 4)), numbers(5, 4, seed=1)
    whole = (softmax_jacobian(chances) @ delta[..., None]).squeeze(-1)
    assert_equal(softmax_backward(chances, delta), whole)


def test_an_error_of_another_shape_is_refused() -> None:
    _, kept = attention_forward(numbers(5, 4), numbers(3, 4), numbers(3, 2))
    with pytest.raises(ShapeError, match=r"^delta must have shape \(5, 2\), got \(3, 2\)$"):
        attention_backward(kept, numbers(3, 2))
