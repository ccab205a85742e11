"""Streaming attention: the exact softmax, block by block, without the square of the length."""

from typing import Any

import pytest
import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.streaming_attention import attention_bytes, streaming_attention
from tests.repetition import for_each


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The most numbers that any tensor had which was made."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        sizes = [part.numel() for part in tree_leaves(made) if isinstance(part, torch.Tensor)]
        self.most = max([self.most, *sizes])
        return made


@for_each("is_causal", [False, True])
@for_each(("length", "block"), [(7, 3), (8, 4), (5, 9), (1, 1)])
def test_it_is_full_attention(length: int, block: int, is_causal: bool) -> None:
    # Exponentials of such scores would overflow.
    queries, keys, values = 30 * torch.randn(3, 2, 2, length, 4, dtype=torch.float64)
    found = streaming_attention(queries, keys, values, is_causal=is_causal, block=block)
    wanted = functional.scaled_dot_product_attention(queries, keys, values, is_causal=is_causal)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.covers("quadratic-memory")
def test_scores_take_the_square_of_the_length_and_a_stream_takes_its_multiple() -> None:
    assert attention_bytes(4096, 8) == 536_870_912  # 536.9 MB
    held = {}
    for length in (256, 512):
        queries, keys, values = torch.randn(3, 1, 2, length, 4)
        with Largest() as full:
            wanted = attend(scaled_dot_scores(queries, keys), values)
        with Largest() as stream:
            found = streaming_attention(queries, keys, values, block=16)
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
        assert 4 * full.most == attention_bytes(length, 2)
        held[length] = stream.most
    assert held == {256: 2 * 256 * 16, 512: 2 * 512 * 16}


def test_a_block_without_keys_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^block must be positive, got 0$"):
        streaming_attention(*torch.zeros(3, 1, 1, 2, 4), block=0)


def test_a_causal_stream_has_a_key_for_each_query() -> None:
    queries, keys = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 3, 4)
    with pytest.raises(
        ShapeError, match=r"keys must have shape \(1, 1, 2, 4\), got \(1, 1, 3, 4\)"
    ):
        streaming_attention(queries, keys, keys, is_causal=True)
