"""Who tries what: hands out trials to any number of processes, and takes back those of dead ones.

A process holds a lock as long as it lives. A trial that is running, and whose process holds none,
was killed: it fails, and its settings are handed out again. Nothing else fails: what cannot be
trained counts as pruned, so that the sampler keeps away from it. Trials are handed out one at a
time, so that no two processes make the last one. All trials have the same seed, so the same
settings would give the same value: they are handed out once.

One process that is killed, at any moment and as often as one likes, makes the same trials in the
end as one that is not. Of several, "random" makes the same ones in any case and "grid" all of them;
what "tpe" draws depends on which trials were finished by then.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from netwright.core.seeding import derive_seed
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.server import ServerWorkers, study_name
from netwright.recipes.search.space import Value, cell_of, count_cells
from netwright.recipes.search.storage import import_optuna, open_study
from netwright.recipes.search.trial_place import PLACE, next_place, place_of
from netwright.recipes.search.workers import FolderWorkers, Workers

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial, Trial

PROCESS = "process"  # noted with a trial: who makes it
FIXED = "fixed_params"  # what Optuna calls the settings of a trial that was queued
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


class TrialQueue:
    """A study that several processes work on; a block in which this one is known to live.

    Args:
        folder: of the search.
        plan: what is searched.
        quiet: print nothing.
    """

    def __init__(self, folder: Path, plan: SearchPlan, *, quiet: bool = False) -> None:
        self.plan = plan
        self.workers: Workers = (
            ServerWorkers(plan.storage, study_name(plan), quiet=quiet)
            if plan.on_server
            else FolderWorkers(folder)
        )
        self.process = self.workers.process
        with self.guard:
            self.study = open_study(folder, plan)

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """A block in which no other process changes the study."""
        return self.workers.guard

    def __enter__(self) -> "TrialQueue":
        self.workers.enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.workers.leave()

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
                made = sorted(
                    (trial for trial in trials if trial.state != states.FAIL), key=place_of
                )
                settings = self._untried(made)
                if settings is None:
                    return None
                self.study.enqueue_trial(settings, {PLACE: next_place(made)})
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
            trials = self.study.get_trials(deepcopy=False)
            self._queue_again(trials[trial.number], trials)

    def _take_back(self) -> None:
        """Queue the trials of processes that are no more."""
        running = import_optuna().trial.TrialState.RUNNING
        trials = self.study.get_trials(deepcopy=False)
        for trial in trials:
            process = trial.user_attrs.get(PROCESS, "")
            if (
                trial.state == running
                and process != self.process
                and not self.workers.lives(process)
            ):
                self._queue_again(trial, trials)

    def _queue_again(self, trial: "FrozenTrial", trials: "list[FrozenTrial]") -> None:
        """Queue the settings of a trial in its place, then let it fail.

        A kill between the two leaves both: the queued one is then the trial of this place.
        """
        lost, place = import_optuna().trial.TrialState.FAIL, place_of(trial)
        settings = {**trial.system_attrs.get(FIXED, {}), **trial.params}
        is_queued = any(
            place_of(other) == place and other.number > trial.number and other.state != lost
            for other in trials
        )
        if settings.keys() == self.plan.space.keys() and not is_queued:
            self.study.enqueue_trial(settings, {PLACE: place})
        self.study.tell(trial.number, state=lost)

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

        It has its own stream for every place: two processes, or one that was killed, draw the same.
        """
        optuna = import_optuna()
        beside = optuna.create_study(
            sampler=self._sampler(next_place(trials)), direction=self.study.direction
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

    def _sampler(self, place: int) -> "BaseSampler":
        samplers = import_optuna().samplers
        seed = derive_seed(self.plan.seed, "trial", place) % 2**32
        kind = samplers.TPESampler if self.plan.sampler == "tpe" else samplers.RandomSampler
        sampler: BaseSampler = kind(seed=seed)
        return sampler
