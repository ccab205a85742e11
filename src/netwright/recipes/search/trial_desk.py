"""Who tries what: hands out trials to any number of processes, and takes back those of dead ones.

A process holds a lock as long as it lives. A trial that is running, and whose process holds none,
was killed: it fails, and its settings are handed out again. Nothing else fails: what cannot be
trained counts as pruned, so that the sampler keeps away from it. Trials are handed out one at a
time, so that no two processes make the last one. All trials have the same seed, so the same
settings would give the same value: they are handed out once.
"""

import os
import random
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netwright.core.process_lock import ProcessLock
from netwright.core.seeding import derive_seed
from netwright.core.storage import make_folder
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.space import Value, cell_of, count_cells
from netwright.recipes.search.storage import LOCKS, import_optuna, open_study

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial, Trial

PROCESS = "process"  # noted with a trial: who makes it
DRAWS = 10  # of the sampler, before settings that nobody has tried are drawn evenly

Key = tuple[Value, ...]


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
        """The next trial with its settings; None where all are done, or in the hands of others.

        Settings that were tried, or are being tried, are not handed out again: a space that has no
        others is exhausted, which ends the search too.
        """
        states = import_optuna().trial.TrialState
        with self.guard:
            self._take_back()
            trials = self.study.get_trials(deepcopy=False)
            done = (states.COMPLETE, states.PRUNED, states.RUNNING)
            if sum(trial.state in done for trial in trials) >= self.plan.trials:
                return None
            if not any(trial.state == states.WAITING for trial in trials):
                settings = self._untried(trials)
                if settings is None:
                    return None
                self.study.enqueue_trial(settings)
            trial = self.study.ask()
            trial.set_user_attr(PROCESS, self.process)
            return trial, {
                name: values.suggest(name, trial) for name, values in self.plan.space.items()
            }

    @property
    def is_exhausted(self) -> bool:
        """Whether everything in the space is tried, or being tried."""
        return len(self._tried(self.study.get_trials(deepcopy=False))) == count_cells(
            self.plan.space
        )

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
        if settings.keys() == self.plan.space.keys():  # else it was killed before it had them all
            self.study.enqueue_trial(dict(settings))

    def _untried(self, trials: "list[FrozenTrial]") -> dict[str, Value] | None:
        """Settings by the sampler that nobody has tried; None where the space has no more."""
        tried, cells = self._tried(trials), count_cells(self.plan.space)
        if len(tried) == cells:
            return None
        if self.plan.sampler != "grid":
            for settings in self._draws(trials):
                if cells is None or self._key(settings) not in tried:
                    return settings
        # Among one more cell than were tried, one is new; the order is drawn by the seed.
        order = random.Random(derive_seed(self.plan.seed, "grid"))
        drawn = order.sample(range(cells or 0), len(tried) + 1)
        new = (cell_of(self.plan.space, number) for number in drawn)
        return next(settings for settings in new if self._key(settings) not in tried)

    def _draws(self, trials: "list[FrozenTrial]") -> Iterator[dict[str, Value]]:
        """What the sampler proposes, in a study beside this one: what is not taken leaves no trace.

        It has its own stream for every trial: two processes, or one that was killed, draw the same.
        """
        optuna = import_optuna()
        beside = optuna.create_study(
            sampler=self._sampler(len(trials)), direction=self.study.direction
        )
        beside.add_trials([trial for trial in trials if trial.state.is_finished()])
        for _ in range(DRAWS):
            trial = beside.ask()
            yield {name: values.suggest(name, trial) for name, values in self.plan.space.items()}

    def _tried(self, trials: "list[FrozenTrial]") -> set[Key]:
        lost, names = import_optuna().trial.TrialState.FAIL, self.plan.space.keys()
        return {
            self._key(trial.params)
            for trial in trials
            if trial.state != lost and trial.params.keys() == names  # a queued one has none yet
        }

    def _key(self, settings: Mapping[str, Value]) -> Key:
        return tuple(settings[name] for name in self.plan.space)

    def _sampler(self, number: int) -> "BaseSampler":
        samplers = import_optuna().samplers
        seed = derive_seed(self.plan.seed, "trial", number) % 2**32
        kind = samplers.TPESampler if self.plan.sampler == "tpe" else samplers.RandomSampler
        sampler: BaseSampler = kind(seed=seed)
        return sampler
