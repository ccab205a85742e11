"""The key/value cache: appended in place, batch first, refused when full."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.trees import map_tensors
from netwright.layers.attention.key_value_cache import KeyValueCache


def empty(rows: int = 2) -> KeyValueCache:
    return KeyValueCache.empty((rows, 3, 5, 4), like=torch.zeros(1))


def drawn(count: int, seed: int) -> Tensor:
    return torch.randn(2, 3, count, 4, generator=torch.Generator().manual_seed(seed))


def test_what_was_appended_comes_back_in_order() -> None:
    first, second = (drawn(2, 0), drawn(2, 1)), (drawn(1, 2), drawn(1, 3))
    cache = empty().append(*first).append(*second)
    keys, values = cache.filled()
    assert cache.length == 3
    assert torch.equal(keys, torch.cat((first[0], second[0]), dim=2))
    assert torch.equal(values, torch.cat((first[1], second[1]), dim=2))


def test_the_room_is_taken_once_and_an_older_cache_still_sees_its_own_tokens() -> None:
    cache = empty().append(drawn(2, 0), drawn(2, 1))
    longer = cache.append(drawn(1, 2), drawn(1, 3))
    assert longer.keys is cache.keys
    assert torch.equal(cache.filled()[0], drawn(2, 0))


def test_rows_are_picked_without_knowing_the_cache_and_then_go_their_own_ways() -> None:
    cache = empty().append(drawn(2, 0), drawn(2, 1))
    picked = map_tensors(lambda part: part.index_select(0, torch.tensor([1, 1, 0])), cache)
    assert isinstance(picked, KeyValueCache)
    assert picked.length == 2
    assert torch.equal(picked.filled()[0], drawn(2, 0)[[1, 1, 0]])
    picked.append(torch.zeros(3, 3, 1, 4), torch.zeros(3, 3, 1, 4))
    assert torch.equal(cache.append(drawn(1, 2), drawn(1, 3)).filled()[0][:, :, 2:], drawn(1, 2))


def test_more_than_there_is_room_for_is_refused() -> None:
    cache = empty().append(drawn(5, 0), drawn(5, 1))
    sentence = "^the context of 5 tokens is full: read the last of them again from the start$"
    with pytest.raises(ConfigError, match=sentence):
        cache.append(drawn(1, 2), drawn(1, 3))
