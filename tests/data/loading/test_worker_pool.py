"""Workers: what they read depends on the batch alone; one that fails is named, with its rows."""

import multiprocessing
import os
import random
import re
import signal
import time
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.data.loading.stored import StoredInputs
from netwright.data.loading.worker_pool import Reading, WorkerPool, read_here
from tests.data.stored_inputs import Faulty, Noisy, Numbered
from tests.repetition import for_each

READINGS = [Reading(1, number, torch.tensor([2 * number, 2 * number + 1])) for number in range(5)]


class Odd(Numbered):
    """Says three numbers a row and gives two."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (3,)


def draws() -> tuple[float, float, float]:
    return random.random(), float(np.random.rand()), float(torch.rand(()))


def pool_of(inputs: StoredInputs, count: int, **settings: Any) -> WorkerPool:
    return WorkerPool(inputs, rows=2, count=count, **{"seed": 0, **settings})


@pytest.mark.parametrize("count", [1, 2])
def test_a_batch_holds_the_same_whoever_reads_it(count: int) -> None:
    alone = [read_here(Noisy(10), reading, seed=3) for reading in READINGS]
    pool = pool_of(Noisy(10), count, seed=3)
    together, again = list(pool.read(READINGS)), list(pool.read(READINGS))
    assert pool.is_idle
    pool.stop()
    for ours, first, second in zip(alone, together, again, strict=True):
        assert torch.equal(ours, first)
        assert torch.equal(ours, second)
    assert not torch.equal(alone[0] - alone[1], torch.full((2, 2), -2.0))  # noise differs by batch


def test_a_recipe_cannot_ask_for_processes_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_WORKERS", "2")
    pool_of(Numbered(10), 2).stop()
    with pytest.raises(DataError, match=r"asks for 3 workers.*raise NETWRIGHT_MAX_WORKERS"):
        pool_of(Numbered(10), 3)
    assert not multiprocessing.active_children()


def test_the_noise_follows_from_seed_epoch_and_batch() -> None:
    readings = [
        (seed, Reading(epoch, n, torch.tensor([0])))
        for seed in (0, 1)
        for epoch in (0, 1)
        for n in (0, 1)
    ]
    noise = {float(read_here(Noisy(1), reading, seed=seed)[0, 0]) for seed, reading in readings}
    assert len(noise) == 8


def test_the_callers_generators_and_signal_handlers_are_left_alone() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGINT)]
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    wanted = draws()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    read_here(Noisy(2), READINGS[0], seed=0)
    pool = pool_of(Noisy(10), 1)
    list(pool.read(READINGS))
    pool.stop()
    assert draws() == wanted
    assert [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGINT)] == handlers


@for_each(
    ("fault", "sentence"),
    [
        ("raises", "data worker 0 (process {pid}) could not read {batch}: row 5 is torn"),
        (
            "is killed",
            "data worker 0 (process {pid}) was killed by SIGKILL before it had read {batch}",
        ),
        ("exits", "data worker 0 (process {pid}) ended with code 3 before it had read {batch}"),
        ("hangs", "data worker 0 (process {pid}) hangs: after 2 seconds it has not read {batch}"),
    ],
)
def test_a_worker_that_fails_is_named_with_its_rows_and_none_is_left(
    fault: str, sentence: str
) -> None:
    pool = pool_of(Faulty(10, fault), 2, patience=2.0 if fault == "hangs" else 600.0)
    pids = [worker.process.pid for worker in pool.workers]
    read = []
    wanted = sentence.format(pid=pids[0], batch="batch 2 of epoch 1 (rows 4, 5)")
    with pytest.raises(RunError, match=f"^{re.escape(wanted)}$"):
        for inputs in pool.read(READINGS):
            read.append(inputs[:, 0].tolist())
            time.sleep(0.05)  # the worker fails while we are busy with what it read before
    assert read == [[0, 1], [2, 3]]
    assert not pool.is_idle
    assert not alive(pids)


def test_a_worker_that_was_killed_between_batches_is_named() -> None:
    pool = pool_of(Numbered(10), 1)
    process = pool.workers[0].process
    process.kill()
    process.join()
    with pytest.raises(RunError, match=rf"\(process {process.pid}\) was killed by SIGKILL before"):
        list(pool.read(READINGS))


def test_a_reader_that_gives_another_shape_is_told_so() -> None:
    with pytest.raises(RunError, match=r"what was read must have shape \(2, 3\), got \(2, 2\)$"):
        list(pool_of(Odd(10), 1).read(READINGS))


def test_a_hung_worker_is_noticed_however_many_rows_it_is_asked_for() -> None:
    rows = torch.arange(200_000)  # as numbers in a message they would fill the pipe
    pool = WorkerPool(Faulty(200_000, "hangs"), rows=200_000, seed=0, count=1, patience=0.5)
    with pytest.raises(RunError, match=r"hangs: after 0.5 seconds it has not read batch 0 of"):
        list(pool.read([Reading(0, number, rows) for number in range(3)]))


def test_a_batch_is_not_changed_by_those_that_follow() -> None:
    pool = pool_of(Numbered(10), 1)
    batches = list(pool.read(READINGS))
    assert [batch[:, 0].tolist() for batch in batches] == [
        reading.rows.tolist() for reading in READINGS
    ]
    pool.stop()


def test_a_system_without_fork_is_told_to_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    with pytest.raises(ConfigError, match=r"^workers need a platform with fork: set workers to 0$"):
        pool_of(Numbered(10), 1)


def test_without_workers_a_failure_names_the_rows_as_well() -> None:
    with pytest.raises(
        RunError, match=r"^could not read batch 2 of epoch 1 \(rows 4, 5\): row 5 is torn$"
    ):
        read_here(Faulty(10, "raises"), READINGS[2], seed=0)


def test_a_long_batch_is_named_by_its_first_rows() -> None:
    assert str(Reading(0, 3, torch.arange(10))) == (
        "batch 3 of epoch 0 (rows 0, 1, 2, 3, 4, 5, 6, 7 and 2 more)"
    )


def test_a_pool_that_is_forgotten_leaves_no_process() -> None:
    pool = pool_of(Numbered(4), 2)
    pids = [worker.process.pid for worker in pool.workers]
    del pool
    assert not alive(pids)


def test_workers_end_when_the_process_that_asks_is_killed() -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    trainer = context.Process(target=start_and_wait, args=(theirs,))
    trainer.start()
    pids = ours.recv()
    assert alive(pids) == pids
    trainer.kill()
    trainer.join()
    deadline = time.monotonic() + 600
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pids)


def test_workers_ignore_ctrl_c_and_obey_termination() -> None:
    pool = pool_of(Numbered(10), 1)
    list(pool.read(READINGS))  # it is past its set-up
    process = pool.workers[0].process
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    assert len(list(pool.read(READINGS))) == 5
    process.terminate()
    process.join(600)
    assert process.exitcode == -signal.SIGTERM
    pool.stop()


def start_and_wait(pipe: "multiprocessing.connection.Connection[list[int | None], None]") -> None:
    pool = pool_of(Numbered(4), 2)
    pipe.send([worker.process.pid for worker in pool.workers])
    time.sleep(600)


def alive(pids: list[int | None]) -> list[int | None]:
    """Those that still run; one that only waits to be buried does not."""
    running = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                state = stat.read().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            continue
        if state != "Z":
            running.append(pid)
    return running


def test_nothing_is_given_by_a_pool_that_was_stopped() -> None:
    pool = pool_of(Numbered(10), 1)
    reading = pool.read(READINGS)
    next(reading)
    pool.stop()
    assert list(reading) == []
    assert not pool.is_idle
