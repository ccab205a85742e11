"""A source gives the same batches for a seed and epoch, from any place, and notices others."""

import gc
import multiprocessing
import os
import random
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, RandomSampler, WeightedRandomSampler

from netwright.core.errors import DataError, RunError
from netwright.core.seeding import seeded
from netwright.data.batches.reading import RawBatch
from netwright.data.batches.source import BatchSource, Place
from tests.data.batches.loaders import ROWS, Forgetful, Noisy, Stream, noisy_loader


def sampled(sampler: Any) -> Any:
    return DataLoader(Noisy(), batch_size=4, sampler=sampler)


def stateful() -> Any:
    torchdata = pytest.importorskip("torchdata.stateful_dataloader")
    return torchdata.StatefulDataLoader(Noisy(), batch_size=4, shuffle=True)


LOADERS = {
    "shuffled": noisy_loader,
    "with a generator": lambda: noisy_loader(generator=torch.Generator().manual_seed(9)),
    "with replacement": lambda: sampled(
        RandomSampler(Noisy(), replacement=True, generator=torch.Generator())
    ),
    "weighted": lambda: sampled(WeightedRandomSampler([*range(1, ROWS + 1)], ROWS)),
    "with workers": lambda: noisy_loader(num_workers=2),
    "stateful": stateful,
}


def read(source: BatchSource, epoch: int = 0, *, start: int = 0) -> list[RawBatch]:
    return list(source.read(3, epoch, 6, start=start))


def equal(some: list[RawBatch], others: list[RawBatch]) -> bool:
    return len(some) == len(others) and all(
        torch.equal(one.inputs, other.inputs) and torch.equal(one.targets, other.targets)
        for one, other in zip(some, others, strict=True)
    )


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # in torchdata
@pytest.mark.parametrize("name", LOADERS)
def test_an_epoch_is_the_same_in_another_process_and_from_the_middle(name: str) -> None:
    first, second = BatchSource(LOADERS[name]()), BatchSource(LOADERS[name]())
    with seeded(1):
        next(first.read(3, 0, 6))  # generators of the loader's own have moved
        whole = read(first, 1)
        first_place = first.place
        next_one = read(first, 2)
    with seeded(2):
        torch.rand(5)
        rest = read(second, 1, start=4)
    assert len(whole) == 6
    assert not equal(whole, next_one)
    assert equal(whole[4:], rest)
    assert second.place == first_place


def test_reading_draws_nothing_that_training_would_draw() -> None:
    source = BatchSource(noisy_loader())
    with seeded(0):
        expected = [float(torch.rand(())), float(np.random.random())]
    with seeded(0):
        batches = source.read(3, 0, 6)
        next(batches)
        found = [float(torch.rand(()))]
        next(batches)
        assert [*found, float(np.random.random())] == expected


def test_looking_leaves_every_generator_and_the_place() -> None:
    source = BatchSource(noisy_loader())
    random.seed(4)
    before = random.getstate()
    assert equal(list(source.measure(0)), list(source.measure(0)))
    assert random.getstate() == before
    assert source.place == Place(0, 0, 0)


def test_a_run_that_goes_on_has_the_draws_of_python_that_it_had() -> None:
    source = BatchSource(DataLoader(Noisy(python=True), batch_size=4, shuffle=True))
    with seeded(0):
        batches = source.read(3, 0, 6)
        for _ in range(3):
            next(batches)
        state = random.getstate()
        expected = next(batches)
        random.setstate(state)
        loader = DataLoader(Noisy(python=True), batch_size=4, shuffle=True)
        again = BatchSource(loader).read(3, 0, 6, start=3)
        assert torch.equal(next(again).inputs, expected.inputs)


def test_batches_that_differ_from_those_of_the_run_are_noticed() -> None:
    used = BatchSource(DataLoader(Forgetful(), batch_size=4))
    batches = used.read(0, 1, 6)
    for _ in range(2):
        next(batches)
    later = BatchSource(DataLoader(Forgetful(seed=1), batch_size=4))
    later.expected = used.place
    with pytest.raises(DataError, match="does not repeat its batches: the 2 of epoch 2 are not"):
        next(later.read(0, 1, 6, start=2))
    later.may_differ = True
    assert len(list(later.read(0, 1, 6, start=2))) == 4
    assert later.differs


class Fragile:
    """In a ring, so that only the collector frees it; it tells in which process it was freed."""

    def __init__(self, freed: "Synchronized[int]") -> None:
        self.ring, self.freed = self, freed

    def __del__(self) -> None:
        self.freed.value = os.getpid()


class Collects(Noisy):
    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        gc.collect()
        return super().__getitem__(place)


def test_workers_free_nothing_that_the_program_left_to_the_collector() -> None:
    freed = multiprocessing.Value("i", 0)
    Fragile(freed)
    read(BatchSource(DataLoader(Collects(), batch_size=4, num_workers=1)), 0)
    assert freed.value == 0
    gc.collect()
    assert freed.value == os.getpid()


def test_workers_that_persist_are_named_as_the_cause() -> None:
    def loader() -> Any:
        return noisy_loader(num_workers=1, persistent_workers=True)

    used, later = BatchSource(loader()), BatchSource(loader())
    read(used, 0)
    batches = used.read(3, 1, 6)
    next(batches)
    later.expected = used.place
    with pytest.raises(DataError, match="persistent_workers=False lets workers repeat theirs"):
        next(later.read(3, 1, 6, start=1))


def test_the_first_row_and_the_targets_are_in_the_checksum() -> None:
    def checksum(change: Any) -> int:
        inputs, targets = torch.arange(12.0).reshape(4, 3), torch.arange(4)
        change(inputs, targets)
        source = BatchSource([(inputs, targets)])
        list(source.read(0, 0, 1))
        return source.place.checksum

    same = checksum(lambda x, y: None)
    assert checksum(lambda x, y: x[0].add_(1)) != same
    assert checksum(lambda x, y: y[3].add_(1)) != same


def test_a_stream_that_ends_is_begun_again() -> None:
    source = BatchSource(DataLoader(Stream(), batch_size=8))
    assert source.count is None
    batches = list(source.read(0, 0, 7))
    assert [len(batch.targets) for batch in batches] == [8, 8, 6, 8, 8, 6, 8]
    rest = list(BatchSource(DataLoader(Stream(), batch_size=8)).read(0, 0, 7, start=4))
    assert equal(batches[4:], rest)
    with pytest.raises(DataError, match=r"gives no batch: its data set is empty"):
        list(BatchSource([]).read(0, 0, 1))


def test_rows_are_known_where_a_sampler_says_so() -> None:
    assert BatchSource(noisy_loader()).rows == ROWS
    assert BatchSource(noisy_loader(drop_last=True)).rows is None
    assert BatchSource(DataLoader(Stream(), batch_size=8)).rows is None


def test_a_sampler_hears_its_epoch() -> None:
    class Heard(RandomSampler):
        epochs: list[int] = []  # noqa: RUF012 - seen by the test

        def set_epoch(self, epoch: int) -> None:
            self.epochs.append(epoch)

    source = BatchSource(sampled(Heard(Noisy())))
    read(source, 2)
    assert Heard.epochs == [2]


def test_of_an_error_that_goes_on_the_first_line_is_told() -> None:
    def batches() -> Iterator[Any]:
        raise RuntimeError("CUDA error: invalid argument\nSearch for it.\nCompile with flags.")
        yield  # a generator

    with pytest.raises(RunError, match=r"RuntimeError: CUDA error: invalid argument$"):
        next(BatchSource(batches()).measure(0))


def test_what_fails_in_the_loader_is_told_with_its_batch() -> None:
    class Broken(Noisy):
        def __getitem__(self, place: int) -> Any:
            if place == 9:
                raise KeyError("no such picture")
            return super().__getitem__(place)

    source = BatchSource(DataLoader(Broken(), batch_size=4))
    with pytest.raises(RunError, match="failed on batch 2 of epoch 1: KeyError: 'no such picture'"):
        read(source)
    with pytest.raises(DataError, match="batch 0 of epoch 1: a batch must be"):
        list(BatchSource(["text"]).read(0, 0, 1))
