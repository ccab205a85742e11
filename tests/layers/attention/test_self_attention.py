"""What kinds of self-attention share: their weights have the same names, keys alone are masked."""

import pytest
import torch

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.attention.linear_attention import LinearAttention
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.self_attention import check_heads, counted_keys
from netwright.layers.attention.window_attention import WindowAttention


def test_every_kind_takes_the_weights_of_the_others() -> None:
    torch.manual_seed(0)
    full = MultiHeadAttention(8, 4, kv_heads=2, causal=True).double()
    window = WindowAttention(8, 4, window=9, kv_heads=2, causal=True).double()
    linear = LinearAttention(8, 4, kv_heads=2, causal=True).double()
    window.load_state_dict(full.state_dict())
    linear.load_state_dict(full.state_dict())
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    torch.testing.assert_close(window(x), full(x))  # a window over all is full attention
    assert not torch.allclose(linear(x), full(x))


def test_a_mask_of_keys_says_which_count_and_no_other_is_taken() -> None:
    mask = torch.tensor([[[True, False]]])
    assert counted_keys(None) is None
    counted = counted_keys(mask)
    assert counted is not None
    assert counted.tolist() == [[True, False]]
    with pytest.raises(ShapeError, match=r"got \(1, 2, 2\)$"):
        counted_keys(mask.expand(1, 2, 2))


def test_heads_that_do_not_divide_are_refused() -> None:
    check_heads(8, 4, 2)
    with pytest.raises(ConfigError, match=r"^heads must divide the width, got 3 heads and a"):
        check_heads(8, 3, 3)
    with pytest.raises(ConfigError, match=r"^kv_heads must divide heads, got 3 of 4$"):
        check_heads(8, 4, 3)
