"""Batches of token files: every window once an epoch, for any ranks, threads and place of entry."""

import threading
from collections import Counter
from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, RunError
from netwright.data.loading import token_windows
from netwright.data.loading.loader import BatchLoader
from netwright.data.loading.token_loader import TokenLoader
from netwright.data.loading.token_windows import TokenSplit, TokenWindows
from netwright.data.loading.windows import WindowSplit
from netwright.data.loading.worker_loader import build_loader
from tests.data.token_files import written_stream

WINDOW, WINDOWS = 4, 53


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TokenSplit:
    monkeypatch.setattr(token_windows, "MOST_IN_MEMORY", 5)
    stream = written_stream(tmp_path, range(WINDOW * WINDOWS + 3), 11, 100, 101)
    return TokenSplit(windows=TokenWindows(stream, WINDOW))


def ids(loader: TokenLoader, epoch: int, start: int = 0) -> list[list[int]]:
    """The windows of each batch by their first token: what was read, not what was asked for."""
    return [(batch.inputs[:, 0] // WINDOW).tolist() for batch in loader.epoch(epoch, start)]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_window_comes_once_an_epoch_also_after_a_kill(
    split: TokenSplit, world: int, workers: int
) -> None:
    loaders = [
        TokenLoader(split, 9, seed=3, rank=rank, world=world, workers=workers)
        for rank in range(world)
    ]
    epochs = []
    for epoch in range(2):
        killed_at = 2 + epoch
        read = []
        for loader in loaders:
            before = ids(loader, epoch)[:killed_at]
            after = ids(loader, epoch, start=killed_at)  # a new process goes on
            read += [row for part in (*before, *after) for row in part]
        assert Counter(read) == Counter(range(WINDOWS))
        epochs.append(read)
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("workers", [0, 1, 3, 40])
def test_batches_are_those_of_a_stream_in_memory(split: TokenSplit, workers: int) -> None:
    tokens = torch.arange(WINDOW * WINDOWS + 3)
    held = BatchLoader(WindowSplit(stream=tokens, window=WINDOW, stride=WINDOW), 9, seed=3)
    loader = build_loader(split, 9, seed=3, workers=workers)
    assert isinstance(loader, TokenLoader) and len(loader) == len(held) == 6
    for ours, theirs in zip(loader.epoch(5, 2), held.epoch(5, 2), strict=True):
        assert torch.equal(ours.inputs, theirs.inputs) and torch.equal(ours.rows, theirs.rows)
        assert torch.equal(ours.targets, theirs.targets)
    some = torch.tensor([50, 2])
    assert torch.equal(loader.batch_of(some).targets, held.batch_of(some).targets)


def test_an_epoch_that_is_left_leaves_no_thread(split: TokenSplit) -> None:
    batches = TokenLoader(split, 9, workers=3).epoch(0)
    next(batches)
    assert any(thread.name.startswith("tokens") for thread in threading.enumerate())
    del batches
    assert not any(thread.name.startswith("tokens") for thread in threading.enumerate())


@pytest.mark.parametrize("workers", [0, 2])
def test_a_damaged_file_is_named_with_the_batch(split: TokenSplit, workers: int) -> None:
    folder = Path(split.windows.stream.folder)
    (folder / "train-00003.bin").write_bytes(b"")
    loader = TokenLoader(split, 9, shuffle=False, workers=workers)
    with pytest.raises(RunError, match=r"batch 2 of epoch 0: .*train-00003.bin has become shorter"):
        ids(loader, 0)


def test_lanes_are_refused(split: TokenSplit) -> None:
    with pytest.raises(ConfigError, match="carry_state is for windows of one long text"):
        build_loader(split, 9, lanes=True)
