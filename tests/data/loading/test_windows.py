"""Windows of a stream: hand-worked, every token scored once, and held once however they overlap."""

import re

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Split
from netwright.data.loading.loader import BatchLoader
from netwright.data.loading.windows import WindowSplit, scored_once
from netwright.data.spec import IGNORED
from tests.repetition import for_each


def test_targets_are_the_tokens_one_place_later() -> None:
    split = WindowSplit(stream=torch.arange(10), window=3, stride=3)
    assert split.inputs.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert split.targets.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert len(split) == 3 and split.weights is None
    assert repr(split) == "WindowSplit(3 of 3 in 10, every 3)"


def test_windows_may_overlap_and_what_fills_none_is_left_out() -> None:
    split = WindowSplit(stream=torch.arange(8), window=4, stride=2)
    assert split.inputs.tolist() == [[0, 1, 2, 3], [2, 3, 4, 5]]
    assert split.targets.tolist() == [[1, 2, 3, 4], [3, 4, 5, 6]]


def test_windows_are_views_of_one_stream() -> None:
    stream = torch.arange(1000)
    split = WindowSplit(stream=stream, window=100, stride=1)
    assert split.inputs.untyped_storage().data_ptr() == stream.untyped_storage().data_ptr()
    assert split.targets.untyped_storage().data_ptr() == stream.untyped_storage().data_ptr()
    moved = split.to(torch.device("cpu"))
    assert isinstance(moved, WindowSplit) and moved.inputs.stride() == (1, 1)
    meta = split.to(torch.device("meta"))
    assert meta.inputs.device.type == meta.targets.device.type == "meta"


def test_taken_windows_are_a_plain_split() -> None:
    split = WindowSplit(stream=torch.arange(20), window=4, stride=1)
    taken = split.take(torch.tensor([5, 2]))
    assert type(taken) is Split
    assert taken.inputs.tolist() == [[5, 6, 7, 8], [2, 3, 4, 5]]
    assert taken.targets.tolist() == [[6, 7, 8, 9], [3, 4, 5, 6]]


def test_a_loader_reads_batches_of_windows() -> None:
    split = WindowSplit(stream=torch.arange(50), window=5, stride=2)
    seen = torch.cat([batch.inputs[:, 0] for batch in BatchLoader(split, 7).epoch(0)])
    assert sorted(seen.tolist()) == list(range(0, 45, 2))
    for batch in BatchLoader(split, 7).epoch(1):
        assert torch.equal(batch.targets, batch.inputs + 1)


@for_each("length", range(6, 40))
def test_every_token_but_the_first_is_scored_exactly_once(length: int) -> None:
    split = scored_once(torch.arange(length), 5)
    counted = split.targets[split.targets != IGNORED]
    assert sorted(counted.tolist()) == list(range(1, length))
    scored = split.targets != IGNORED
    assert torch.equal(split.targets[scored], split.inputs[scored] + 1)
    assert split.inputs[-1, -1] == length - 2  # the last window ends with the stream
    assert not bool((split.inputs == IGNORED).any())


def test_the_last_window_is_moved_back() -> None:
    split = scored_once(torch.arange(9), 5)
    assert split.inputs.tolist() == [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]]
    assert split.targets.tolist() == [[1, 2, 3, 4, 5], [IGNORED, IGNORED, 6, 7, 8]]


def test_a_stream_that_is_too_short_is_refused() -> None:
    sentence = "5 tokens are too few for a window of 5 and the token after it"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        WindowSplit(stream=torch.arange(5), window=5, stride=1)
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        scored_once(torch.arange(5), 5)
    with pytest.raises(ConfigError, match=r"^window must be positive, got 0$"):
        scored_once(torch.arange(9), 0)
    with pytest.raises(ConfigError, match=r"^stride must be positive, got 0$"):
        WindowSplit(stream=torch.arange(9), window=5, stride=0)
