"""Linear attention: the sums are the plain formula, the recurrence is the masked form."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.layers.attention.linear_attention import (
    BLOCK,
    LinearAttention,
    empty_state,
    linear_attention,
    linear_step,
    linear_weights,
)
from netwright.layers.attention.position_encoding import Rotary
from tests.repetition import for_each


def draw(length: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    shapes = ((2, 2, length, 4), (2, 2, length, 4), (2, 2, length, 3))
    queries, keys, values = (
        torch.randn(shape, generator=numbers, dtype=torch.float64) for shape in shapes
    )
    return queries, keys, values


@pytest.mark.covers("linear-attention")
@for_each("is_causal", [False, True])
@for_each("length", [1, 5, BLOCK, 2 * BLOCK + 3])
def test_factored_and_recurrent_forms_are_the_explicit_kernel(length: int, is_causal: bool) -> None:
    queries, keys, values = draw(length)
    wanted = linear_weights(queries, keys, is_causal=is_causal) @ values
    found = linear_attention(queries, keys, values, is_causal=is_causal)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    if is_causal:
        state, steps = empty_state(keys, values), []
        for place in range(length):
            here = slice(place, place + 1)
            read, state = linear_step(
                queries[:, :, here], keys[:, :, here], values[:, :, here], state
            )
            steps.append(read)
        torch.testing.assert_close(torch.cat(steps, dim=2), wanted, rtol=1e-10, atol=1e-10)


def test_weights_are_distributions_and_causal_ones_see_nothing_later() -> None:
    queries, keys, _ = draw(6)
    weights = linear_weights(queries, keys, is_causal=True)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 2, 6).double())
    assert bool((weights >= 0).all())
    assert bool((weights.triu(1) == 0).all())


def test_what_comes_later_changes_nothing() -> None:
    before, after = draw(BLOCK + 6), draw(BLOCK + 6)
    for part in after:
        part[:, :, BLOCK + 2 :] += 1
    one, other = (linear_attention(*parts, is_causal=True) for parts in (before, after))
    assert torch.equal(one[:, :, : BLOCK + 2], other[:, :, : BLOCK + 2])
    assert not torch.equal(one[:, :, BLOCK + 2 :], other[:, :, BLOCK + 2 :])


@pytest.mark.parametrize("is_causal", [False, True])
def test_half_precision_does_not_overflow_in_long_sums(is_causal: bool) -> None:
    parts = [20 + 10 * part.abs() for part in draw(1000)]
    found = linear_attention(*(part.half() for part in parts), is_causal=is_causal)
    assert found.dtype == torch.float16
    assert bool(found.isfinite().all())
    wanted = linear_attention(*parts, is_causal=is_causal)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-2, atol=1e-2)


@for_each("is_causal", [False, True])
def test_the_layer_reads_by_the_weights_that_it_shows(is_causal: bool) -> None:
    torch.manual_seed(0)
    layer = LinearAttention(8, 4, kv_heads=2, causal=is_causal).double()
    x = torch.randn(2, BLOCK + 3, 8, dtype=torch.float64)
    mask = torch.ones(2, 1, BLOCK + 3, dtype=torch.bool)
    mask[1, :, :5] = False
    x[~mask[:, 0]] = torch.nan  # what is not counted is not read
    found = layer(x, mask)
    assert bool(found.isfinite().all())
    values = layer.c_attn(x.nan_to_num())[..., 12:].unflatten(-1, (2, 2)).transpose(1, 2)
    weights = layer.attention_weights(x, mask)
    read = weights @ values.repeat_interleave(2, dim=1)
    wanted = layer.c_proj(read.transpose(1, 2).flatten(2))
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)
    sums = weights.sum(dim=-1)[mask.expand(-1, 4, -1)]
    torch.testing.assert_close(sums, torch.ones_like(sums))


@for_each("is_rotary", [False, True])
def test_what_is_kept_does_not_grow_and_goes_on_as_the_whole(is_rotary: bool) -> None:
    torch.manual_seed(0)
    rotary = Rotary(4, 2 * BLOCK + 5) if is_rotary else None
    layer = LinearAttention(8, 2, causal=True, rotary=rotary).double()
    x = torch.randn(2, 2 * BLOCK + 5, 8, dtype=torch.float64)
    whole, cache, parts = layer(x), layer.start(2, 999), []
    for part in torch.split(x, [1, BLOCK + 1, 1, BLOCK + 2], dim=1):
        read, cache = layer.extend(part, cache)
        parts.append(read)
        assert cache.state.sums.shape == (2, 2, 4, 4)
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-10, atol=1e-10)


def test_a_bias_of_scores_is_refused() -> None:
    layer, x = LinearAttention(4, 2), torch.zeros(1, 3, 4)
    with pytest.raises(ConfigError, match=r"^linear attention has no scores"):
        layer(x, None, torch.zeros(2, 3, 3))
