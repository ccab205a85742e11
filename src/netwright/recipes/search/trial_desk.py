"""Who tries what: hands out trials to any number of processes, and takes back those of dead ones.

A process holds a lock as long as it lives. A trial that is running, and whose process holds none,
was killed: it fails, and its settings are handed out again. Nothing else fails: what cannot be
trained counts as pruned, so that the sampler keeps away from it. Trials are handed out one at a
time, so that no two processes make the last one.
"""

import itertools
import os
import random
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netwright.core.process_lock import ProcessLock
from netwright.core.seeding import derive_seed
from netwright.core.storage import make_folder
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.space import Value
from netwright.recipes.search.storage import LOCKS, import_optuna, open_study

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial, Trial

PROCESS = "process"  # noted with a trial: who makes it


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What came of a trial.

    Args:
        value: of the metric; None where the trial was stopped early.
        notes: plain values worth keeping: epochs, seconds, why it stopped.
    """

    value: float | None
    notes: Mapping[str, Any]


class TrialDesk:
    """A study that several processes work on; a block in which this one is known to live.

    Args:
        folder: of the search.
        plan: what is searched.
    """

    def __init__(self, folder: Path, plan: SearchPlan) -> None:
        self.plan = plan
        self._locks = folder / LOCKS
        make_folder(self._locks)
        self.guard = ProcessLock(self._locks / "study")
        self.process = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._alive = ProcessLock(self._locks / self.process)
        with self.guard:
            self.study = open_study(folder, plan)

    def __enter__(self) -> "TrialDesk":
        self._alive.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._alive.release()
        with suppress(OSError):
            self._alive.path.unlink()

    def take(self) -> "tuple[Trial, dict[str, Value]] | None":
        """The next trial with its settings; None where all are done, or in the hands of others."""
        states = import_optuna().trial.TrialState
        with self.guard:
            self._take_back()
            trials = self.study.get_trials(deepcopy=False)
            done = (states.COMPLETE, states.PRUNED, states.RUNNING)
            if sum(trial.state in done for trial in trials) >= self.plan.trials:
                return None
            is_queued = any(trial.state == states.WAITING for trial in trials)
            if self.plan.sampler == "grid" and not is_queued:
                cell = self._next_cell(trials)
                if cell is None:
                    return None
                self.study.enqueue_trial(cell)
            # Its own stream for every trial: two processes, or one that was killed, draw the same.
            self.study.sampler = self._sampler(len(trials))
            trial = self.study.ask()
            trial.set_user_attr(PROCESS, self.process)
            return trial, {
                name: values.suggest(name, trial) for name, values in self.plan.space.items()
            }

    def finish(self, trial: "Trial", tried: Tried) -> None:
        """Write down what came of a trial."""
        states = import_optuna().trial.TrialState
        with self.guard:
            for name, note in tried.notes.items():
                trial.set_user_attr(name, note)
            if tried.value is None:
                self.study.tell(trial, state=states.PRUNED)
            else:
                self.study.tell(trial, tried.value)

    def give_back(self, trial: "Trial") -> None:
        """Another process, or this one later, is to try these settings from the beginning."""
        with self.guard:
            self._queue_again(trial.number, trial.params)

    def _take_back(self) -> None:
        """Queue the trials of processes that are no more."""
        running = (import_optuna().trial.TrialState.RUNNING,)
        for trial in self.study.get_trials(deepcopy=False, states=running):
            process = trial.user_attrs.get(PROCESS, "")
            if process != self.process and not self._lives(process):
                self._queue_again(trial.number, trial.params)

    def _lives(self, process: str) -> bool:
        path = self._locks / process
        if not process or not path.is_file():
            return False
        lock = ProcessLock(path)
        if not lock.acquire(wait=False):
            return True
        lock.release()
        return False

    def _queue_again(self, number: int, settings: Mapping[str, Value]) -> None:
        self.study.tell(number, state=import_optuna().trial.TrialState.FAIL)
        self.study.enqueue_trial(dict(settings))

    def _next_cell(self, trials: "Sequence[FrozenTrial]") -> dict[str, Value] | None:
        """The settings of the grid that nobody has tried, in an order drawn by the seed."""
        names = list(self.plan.space)
        options = [values.options() or () for values in self.plan.space.values()]
        cells = [dict(zip(names, cell, strict=True)) for cell in itertools.product(*options)]
        random.Random(derive_seed(self.plan.seed, "grid")).shuffle(cells)
        lost = import_optuna().trial.TrialState.FAIL
        tried = [trial.params for trial in trials if trial.state != lost]
        return next((cell for cell in cells if cell not in tried), None)

    def _sampler(self, number: int) -> "BaseSampler":
        samplers = import_optuna().samplers
        seed = derive_seed(self.plan.seed, "trial", number) % 2**32
        kind = samplers.TPESampler if self.plan.sampler == "tpe" else samplers.RandomSampler
        sampler: BaseSampler = kind(seed=seed)
        return sampler
