"""Processes that read stored inputs ahead of their use, into memory that is shared with them.

A batch is read inside a seed of its own, (seed, epoch, batch), so what it holds does not depend on
which process reads it, nor on what was read before: there is no state of workers to save.

torch's `DataLoader` is not used: it does not say which worker failed on what, takes a further five
seconds to be rid of one that hangs, leaves a signal handler behind in the caller's process, and
dies of a bus error where /dev/shm is small.

Shapes: B rows of one batch.
"""

import contextlib
import gc
import itertools
import math
import mmap
import multiprocessing
import signal
import warnings
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError, RunError
from netwright.core.kernel_start import wait_for_kernels
from netwright.core.limits import WORKERS
from netwright.core.seeding import derive_seed, seed_all, seeded
from netwright.data.loading.stored import StoredInputs

AHEAD = 2  # batches that each worker is asked for at a time
PATIENCE = 60.0  # seconds without an answer after which a worker counts as hung; disks are slow
ROWS_NAMED = 8


class Reading(NamedTuple):
    """A batch to be read: its epoch, its number in it, and the places of its rows (B,)."""

    epoch: int
    number: int
    rows: Tensor

    def __str__(self) -> str:
        named = ", ".join(str(row) for row in self.rows[:ROWS_NAMED].tolist())
        more = len(self.rows) - ROWS_NAMED
        rows = f"{named} and {more} more" if more > 0 else named
        return f"batch {self.number} of epoch {self.epoch} (rows {rows})"


class Worker(NamedTuple):
    """A process that reads, our end of the pipe to it, and the memory that is shared with it.

    The pipe carries a few bytes a batch, so that nobody waits for it to be emptied.
    """

    number: int
    process: BaseProcess
    pipe: "Connection[Any, Any]"
    rows: Tensor  # what to read (AHEAD, B)
    inputs: Tensor  # what was read (AHEAD, B, ...)


class WorkerPool:
    """Workers that take turns; what they read comes in the order in which it was asked for.

    Args:
        inputs: what is read.
        rows: the most rows of one batch.
        seed: the run's seed.
        count: how many workers.
        patience: seconds without an answer after which a worker counts as hung.
        pinned: give batches in pinned memory, from which a GPU copies by itself.
    """

    def __init__(
        self,
        inputs: StoredInputs,
        *,
        rows: int,
        seed: int,
        count: int,
        patience: float = PATIENCE,
        pinned: bool = False,
    ) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise ConfigError("workers need a platform with fork: set workers to 0")
        WORKERS.check("the run", count, "asks for")  # a recipe may come from elsewhere
        self.patience, self.pinned = patience, pinned
        self.workers: list[Worker] = []
        self._owed: deque[tuple[Worker, int, Reading]] = deque()
        weakref.finalize(self, _end, self.workers)
        for number in range(count):
            self.workers.append(self._start(number, inputs, rows, seed))

    @property
    def is_idle(self) -> bool:
        """Whether it stands ready: it has workers, and they owe nothing."""
        return bool(self.workers) and not self._owed

    def read(self, readings: Iterable[Reading]) -> Iterator[Tensor]:
        """The batches in order; each worker is kept busy with a few. One that fails is named."""
        slots = itertools.product(range(AHEAD), self.workers)
        turns = zip(itertools.cycle(slots), readings, strict=False)
        for (slot, worker), reading in itertools.islice(turns, AHEAD * len(self.workers)):
            self._ask(worker, slot, reading)
        while self._owed:
            inputs = self._take()
            for (slot, worker), reading in itertools.islice(turns, 1):
                self._ask(worker, slot, reading)
            yield inputs

    def stop(self) -> None:
        """End all workers at once; a pool that is forgotten does so too."""
        _end(self.workers)
        self._owed.clear()

    def _ask(self, worker: Worker, slot: int, reading: Reading) -> None:
        self._owed.append((worker, slot, reading))
        count = len(reading.rows)
        worker.rows[slot, :count] = reading.rows
        with contextlib.suppress(OSError):  # that it is gone is told when its batch is due
            worker.pipe.send((slot, count, reading.epoch, reading.number))

    def _take(self) -> Tensor:
        """The batch that has been owed for the longest time, copied out of its slot."""
        worker, slot, reading = self._owed[0]
        if not wait([worker.pipe, worker.process.sentinel], self.patience):
            self._fail(
                f"{_name(worker)} hangs: after {self.patience:g} seconds it has not read {reading}"
            )
        try:
            failure: str = worker.pipe.recv()
        except (EOFError, OSError):
            self._fail(f"{_fate(worker)} before it had read {reading}")
        if failure:
            self._fail(f"{_name(worker)} could not read {reading}: {failure}")
        self._owed.popleft()
        filled = worker.inputs[slot, : len(reading.rows)]
        return torch.empty(filled.shape, pin_memory=self.pinned).copy_(filled)

    def _start(self, number: int, inputs: StoredInputs, rows: int, seed: int) -> Worker:
        context = multiprocessing.get_context("fork")
        wait_for_kernels()  # a library that is being loaded would stay locked in the new process
        ours, theirs = context.Pipe()
        inherited = [*(worker.pipe for worker in self.workers), ours]
        places = _shared(torch.int64, AHEAD, rows)
        values = _shared(torch.float32, AHEAD, rows, *inputs.shape)
        process = context.Process(
            target=_work,
            args=(theirs, inherited, places, values, inputs, seed),
            name=f"reader-{number}",
            daemon=True,
        )
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside threads; none of ours holds what reading needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        return Worker(number, process, ours, places, values)

    def _fail(self, sentence: str) -> NoReturn:
        self.stop()
        raise RunError(sentence)


def read_here(inputs: StoredInputs, reading: Reading, *, seed: int) -> Tensor:
    """What a worker would read, in this process; the caller's generators are left alone."""
    with seeded(_seed_of(reading, seed)):
        try:
            return inputs.read(reading.rows)
        except Exception as error:
            raise RunError(f"could not read {reading}: {_reason(error)}") from error


def _end(workers: list[Worker]) -> None:
    """Kill them, hung or not: they hold nothing that could be lost."""
    for worker in workers:
        worker.process.kill()
    for worker in workers:
        worker.process.join()
        worker.pipe.close()
    workers.clear()


def _shared(dtype: torch.dtype, *shape: int) -> Tensor:
    """Numbers that processes share from a fork on; no file and no limit on /dev/shm is involved."""
    memory = mmap.mmap(-1, math.prod(shape) * dtype.itemsize)
    return torch.frombuffer(memory, dtype=dtype).view(shape)


def _work(
    pipe: "Connection[Any, Any]",
    inherited: "Sequence[Connection[Any, Any]]",
    rows: Tensor,
    values: Tensor,
    inputs: StoredInputs,
    seed: int,
) -> None:
    """The life of a worker: read what is asked for until the other end of the pipe is gone."""
    for end in inherited:  # held here as well, they would never be gone
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that trains
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # it may have been taught to finish a step first
    gc.freeze()  # what was there before is not ours to clean up
    torch.set_num_threads(1)  # the threads of the parent are not here, waiting for them never ends
    while True:
        try:
            slot, count, epoch, number = pipe.recv()
            reading = Reading(epoch, number, rows[slot, :count])
            pipe.send(_fill(values[slot, :count], inputs, reading, seed))
        except (EOFError, OSError):
            return


def _fill(slot: Tensor, inputs: StoredInputs, reading: Reading, seed: int) -> str:
    """Read a batch into its slot; gives why that failed, or nothing."""
    seed_all(_seed_of(reading, seed))  # a worker has no caller whose states should come back
    try:
        values = inputs.read(reading.rows)
        check_shape("what was read", values, *slot.shape)
        slot.copy_(values)
    except Exception as error:  # told by the process that waits for it
        return _reason(error)
    return ""


def _seed_of(reading: Reading, seed: int) -> int:
    return derive_seed(seed, "read", reading.epoch, reading.number)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _name(worker: Worker) -> str:
    return f"data worker {worker.number} (process {worker.process.pid})"


def _fate(worker: Worker) -> str:
    """How a worker that is gone has ended."""
    worker.process.join(1)
    code = worker.process.exitcode or 0
    end = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"{_name(worker)} {end}"
