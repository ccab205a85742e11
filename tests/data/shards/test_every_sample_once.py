"""Shards of tar, parquet and tokens: every sample once an epoch, also after a kill."""

import os
import signal
from collections import Counter
from itertools import islice, product
from pathlib import Path

import pytest
import torch

from netwright.data.loading.stored import StoredSplit
from netwright.data.loading.token_windows import TokenSplit, TokenWindows
from netwright.data.loading.worker_loader import build_loader
from netwright.data.shards.source import ImageShardsConfig, load_image_shards
from tests.data.shards.written_shards import write_parquet, write_tar
from tests.data.token_files import written_stream
from tests.forked_ranks import FORKS
from tests.repetition import slow_but

SAMPLES, BATCH, WINDOW = 53, 9, 4


def made_tar(folder: Path) -> StoredSplit:
    for name, numbers in {"a": range(17), "b": range(17, 40), "c": range(40, SAMPLES)}.items():
        write_tar(folder / f"{name}.tar", numbers)
    return loaded(folder)


def made_parquet(folder: Path) -> StoredSplit:
    for name, numbers in {"a": range(17), "b": range(17, 40), "c": range(40, SAMPLES)}.items():
        write_parquet(folder / f"{name}.parquet", numbers)
    return loaded(folder)


def made_tokens(folder: Path) -> TokenSplit:
    stream = written_stream(folder, range(WINDOW * SAMPLES + 3), 11, 100, 101)
    return TokenSplit(windows=TokenWindows(stream, WINDOW))


def loaded(folder: Path) -> StoredSplit:
    config = ImageShardsConfig(path=str(folder), val_size=0, test_size=0, normalize="none")
    split = load_image_shards(config).train
    assert isinstance(split, StoredSplit)
    return split.take(split.rows.argsort())  # in the order of the files


MADE = {"tar": made_tar, "parquet": made_parquet, "tokens": made_tokens}


def ids(inputs: torch.Tensor) -> list[int]:
    """What was read, by what is in it: red and green of a picture, the first token of a window."""
    if inputs.ndim == 2:
        found: list[int] = (inputs[:, 0] // WINDOW).tolist()
        return found
    corner = (inputs[:, :, 0, 0] * 255).round().long()
    found = (corner[:, 0] + 256 * corner[:, 1]).tolist()
    return found


@pytest.mark.parametrize(
    "workers_and_world", slow_but([(0, 3), (2, 2)], product((0, 2), (1, 2, 3)))
)
@pytest.mark.parametrize("kind", MADE)
def test_every_sample_comes_once_an_epoch(
    tmp_path: Path, kind: str, workers_and_world: tuple[int, int]
) -> None:
    workers, world = workers_and_world
    split = MADE[kind](tmp_path)
    epochs = []
    for epoch in range(2):
        read = []
        for rank in range(world):
            loader = build_loader(split, BATCH, seed=3, rank=rank, world=world, workers=workers)
            before = [ids(batch.inputs) for batch in islice(loader.epoch(epoch), 2)]
            loader.close()
            loader = build_loader(split, BATCH, seed=3, rank=rank, world=world, workers=workers)
            after = [ids(batch.inputs) for batch in loader.epoch(epoch, start=2)]
            assert len(before) == 2 and len(after) == len(loader) - 2
            read += [one for part in (*before, *after) for one in part]
            loader.close()
        assert Counter(read) == Counter(range(SAMPLES))
        epochs.append(read)
    assert epochs[0] != epochs[1] and epochs[0] != list(range(SAMPLES))


def _be_rank(folder: Path, kind: str, rank: int, world: int, workers: int, dies_at: int) -> None:
    """Read on where the notes of this rank end; be killed, with no warning, before a batch."""
    torch.set_num_threads(1)
    notes = folder / f"rank-{rank}"
    done = notes.read_text().splitlines() if notes.exists() else []
    split = _reopened(folder, kind, rank)
    loader = build_loader(split, BATCH, seed=3, rank=rank, world=world, workers=workers)
    with notes.open("a") as file:
        for number, batch in enumerate(loader.epoch(0, start=len(done)), len(done)):
            if number == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)
            file.write(" ".join(map(str, ids(batch.inputs))) + "\n")
            file.flush()
    loader.close()


def _reopened(folder: Path, kind: str, rank: int) -> StoredSplit | TokenSplit:
    if kind != "tokens":
        return loaded(folder / kind)
    copy = folder / f"tokens-{rank}"  # written anew: other ranks read theirs
    copy.mkdir(exist_ok=True)
    return made_tokens(copy)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("world", [1, 2, 3])
@pytest.mark.parametrize("kind", MADE)
def test_a_killed_epoch_is_gone_on_with(
    tmp_path: Path, kind: str, world: int, workers: int
) -> None:
    (tmp_path / kind).mkdir()
    MADE[kind](tmp_path / kind)
    for dies_at in (3, -1):
        ranks = [
            FORKS.Process(target=_be_rank, args=(tmp_path, kind, rank, world, workers, dies_at))
            for rank in range(world)
        ]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
        wanted = 0 if dies_at < 0 else -signal.SIGKILL
        assert [process.exitcode for process in ranks] == [wanted] * world
    read = [
        int(one)
        for rank in range(world)
        for line in (tmp_path / f"rank-{rank}").read_text().splitlines()
        for one in line.split()
    ]
    assert Counter(read) == Counter(range(SAMPLES))


def test_what_was_read_of_a_tar_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = made_tar(tmp_path)
    read: list[tuple[int, int]] = []
    files = split.stored.files  # type: ignore[attr-defined]
    plain = files.read

    def noted(number: int, start: int, size: int) -> bytes:
        read.append((number, start))
        content: bytes = plain(number, start, size)
        return content

    monkeypatch.setattr(files, "read", noted)
    loader = build_loader(split, BATCH, seed=3)
    first = [batch.rows for batch in islice(loader.epoch(0), 3)]
    before, read[:] = set(read), []
    rest = [batch.rows for batch in loader.epoch(0, start=len(first))]
    assert len(before) == BATCH * 3 and len(read) == sum(map(len, rest)) == SAMPLES - BATCH * 3
    assert not before & set(read)
