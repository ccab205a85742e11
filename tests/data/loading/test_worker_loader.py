"""Batches by workers: bit for bit those of data in memory, from any place, with any workers."""

import multiprocessing
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import RunError
from netwright.data.arrays import from_arrays
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.data.loading.worker_loader import WorkerLoader, build_loader
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from tests.data.stored_inputs import Faulty, Noisy, Numbered, split_of
from tests.train.toy_runs import assert_same, toy_net

MODES: dict[str, dict[str, Any]] = {
    "here": {"workers": 0},
    "one": {"workers": 1},
    "two": {"workers": 2},
    "two, anew each epoch": {"workers": 2, "persistent": False},
    "more than batches": {"workers": 9},
}


def same(first: list[Batch], second: list[Batch]) -> bool:
    return len(first) == len(second) and all(
        torch.equal(a.inputs, b.inputs)
        and torch.equal(a.targets, b.targets)
        and torch.equal(a.rows, b.rows)
        for a, b in zip(first, second, strict=True)
    )


def readers() -> list[BaseProcess]:
    found = multiprocessing.active_children()
    return [process for process in found if process.name.startswith("reader-")]


def children() -> int:
    return len(readers())


@pytest.mark.parametrize("mode", MODES)
def test_batches_depend_on_seed_epoch_and_number_alone(mode: str) -> None:
    split = split_of(Noisy(11))
    reference = WorkerLoader(split, 3, seed=5)
    loader = WorkerLoader(split, 3, seed=5, **MODES[mode])
    wanted = list(reference.epoch(2))
    assert same(list(loader.epoch(2)), wanted)
    assert same(list(loader.epoch(2, start=2)), wanted[2:])  # nothing is replayed
    assert list(loader.epoch(2, start=4)) == []
    next(loader.epoch(0))  # left early: what was read ahead does not count
    assert same(list(loader.epoch(2)), wanted)
    loader.close()
    assert same(list(loader.epoch(2)), wanted)
    loader.close()
    assert children() == 0


@pytest.mark.parametrize("mode", ["here", "two"])
def test_batches_are_those_of_data_in_memory(mode: str) -> None:
    weights = torch.arange(1.0, 12.0)
    stored = split_of(Numbered(11), weights=weights)
    memory = Split(inputs=stored.inputs, targets=stored.targets, weights=weights)
    for rank in range(2):
        ours = WorkerLoader(stored, 3, seed=1, rank=rank, world=2, **MODES[mode])
        theirs = BatchLoader(memory, 3, seed=1, rank=rank, world=2)
        assert len(ours) == len(theirs)
        assert same(list(ours.epoch(3)), list(theirs.epoch(3)))
        for one, other in zip(ours.epoch(3), theirs.epoch(3), strict=True):
            assert one.weights is not None
            assert other.weights is not None
            assert torch.equal(one.weights, other.weights)
        ours.close()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("mode", ["here", "two"])
def test_batches_come_where_the_targets_lie(mode: str) -> None:
    split = split_of(Numbered(11))
    wanted = list(WorkerLoader(split, 3, seed=1).epoch(0))
    loader = WorkerLoader(split.to(torch.device("cuda")), 3, seed=1, **MODES[mode])
    for ours, theirs in zip(loader.epoch(0), wanted, strict=True):
        assert ours.inputs.is_cuda
        assert torch.equal(ours.inputs.cpu(), theirs.inputs)
        assert torch.equal(ours.targets.cpu(), theirs.targets)
    loader.close()


def test_workers_stay_where_they_are_asked_to() -> None:
    stays, leaves = (
        WorkerLoader(split_of(Numbered(6)), 2, workers=1, persistent=kept) for kept in (True, False)
    )
    list(leaves.epoch(0))
    assert children() == 0
    list(stays.epoch(0))
    (first,) = readers()
    list(stays.epoch(1))
    assert readers() == [first]
    stays.close()
    assert children() == 0


def test_leaving_an_epoch_early_leaves_no_process() -> None:
    loader = WorkerLoader(split_of(Numbered(40)), 2, workers=2)
    for batch in loader.epoch(0):
        assert children() == 2
        assert len(batch.rows) == 2
        break
    assert children() == 0
    later = loader.epoch(0)
    next(later)
    del loader, later
    assert children() == 0


def test_starting_an_epoch_ends_the_one_before() -> None:
    loader = WorkerLoader(split_of(Numbered(40)), 2, workers=1, seed=2)
    first = loader.epoch(0)
    next(first)
    wanted = list(WorkerLoader(split_of(Numbered(40)), 2, seed=2).epoch(1))
    assert same(list(loader.epoch(1)), wanted)
    assert children() == 1
    loader.close()


def test_a_fault_ends_the_epoch_in_a_sentence_that_names_the_rows() -> None:
    split = split_of(Faulty(10, "raises")).take(torch.tensor([9, 8, 5, 1]))
    loader = WorkerLoader(split, 2, shuffle=False, workers=1)
    with pytest.raises(
        RunError, match=r"could not read batch 1 of epoch 0 \(rows 5, 1\): row 5 is torn$"
    ):
        list(loader.epoch(0))
    assert children() == 0
    with pytest.raises(RunError, match=r"batch 1 of epoch 0 \(rows 5, 1\): row 5 is torn$"):
        list(WorkerLoader(split, 2, shuffle=False).epoch(0))


def test_the_callers_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    for workers in (0, 1):
        loader = WorkerLoader(split_of(Noisy(6)), 2, workers=workers)
        list(loader.epoch(0))
        loader.close()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_kind_of_split_picks_the_loader() -> None:
    memory = Split(inputs=torch.zeros(4, 2), targets=torch.zeros(4))
    assert type(build_loader(memory, 2, workers=2)) is BatchLoader
    loader = build_loader(split_of(Numbered(4)), 2, workers=2, persistent=False, seed=3)
    assert isinstance(loader, WorkerLoader)
    assert (loader.workers, loader.persistent, loader.seed) == (2, False, 3)
    usual = build_loader(split_of(Numbered(4)), 2)
    assert isinstance(usual, WorkerLoader)
    assert usual.workers == 0  # no processes where none are asked for


@pytest.mark.parametrize("kind", ["memory", "stored"])
def test_either_loader_takes_the_rows_in_the_same_order(kind: str) -> None:
    stored = split_of(Numbered(30))
    memory = Split(inputs=stored.inputs, targets=stored.targets)
    split = stored if kind == "stored" else memory
    assert torch.equal(build_loader(split, 4).order(2), BatchLoader(memory, 4, seed=0).order(2))
    seeded = build_loader(split, 4, seed=3)
    assert torch.equal(seeded.order(2), BatchLoader(memory, 4, seed=3).order(2))
    assert not torch.equal(seeded.order(2), build_loader(split, 4).order(2))
    assert build_loader(split, 4, shuffle=False).order(2).tolist() == list(range(30))


@pytest.mark.parametrize("kind", ["memory", "stored"])
def test_ranks_share_the_batches_of_either_loader(kind: str) -> None:
    stored = split_of(Numbered(8))
    memory = Split(inputs=stored.inputs, targets=stored.targets)
    split = stored if kind == "stored" else memory
    parts = [build_loader(split, 4, seed=1, rank=rank, world=2).epoch(0) for rank in range(2)]
    for ours, theirs, whole in zip(*parts, build_loader(split, 4, seed=1).epoch(0), strict=True):
        assert torch.equal(whole.rows[::2], ours.rows)
        assert torch.equal(whole.rows[1::2], theirs.rows)


def trained(data: Data, workers: int) -> dict[str, torch.Tensor]:
    task = task_for(data)
    config = TrainConfig(epochs=2, batch_size=8, workers=workers, device="cpu")
    trainer = Trainer(config, task, seed=4)
    state = trainer.start(toy_net(dropout=0.5), data)
    trainer.fit(state, data)
    return state.model.state_dict()


@pytest.mark.parametrize("workers", [0, 2])
def test_training_on_a_mapped_array_is_training_on_the_same_array_in_memory(
    workers: int, tmp_path: Path
) -> None:
    random = np.random.default_rng(0)
    inputs, targets = random.normal(3, 2, size=(60, 3)), random.integers(0, 3, 60)
    np.save(tmp_path / "x.npy", inputs)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    wanted = trained(from_arrays(inputs, targets), 0)
    assert_same(trained(from_arrays(mapped, targets), workers), wanted)
    assert children() == 0
