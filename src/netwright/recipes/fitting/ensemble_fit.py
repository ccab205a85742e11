"""Learning of an ensemble: each member by the same code path as a run of its own."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import torch

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.core.terminal.console import Bar, print_message, print_warning
from netwright.core.terminal.interrupts import Interrupt
from netwright.models.ensembles.ensemble import Ensemble, Lesson, Member
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.learner_fit import learner_fit, measured_part
from netwright.recipes.fitting.member_checkpoints import MemberCheckpoints
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.plan.unused_settings import unused_notes
from netwright.recipes.saved.results_file import read_results
from netwright.recipes.saved.resume import is_finished
from netwright.recipes.saved.run_folder import read_weights, write_recipe
from netwright.train.evaluate import measure_quickly
from netwright.train.tasks.regression import Regression
from netwright.train.watching.history import History, Row, append_rows, read_history, write_rows

SHORTEST = 1e-9  # seconds: a member whose time is up before it begins makes one step


@dataclass(frozen=True, kw_only=True)
class PreparedEnsemble(Prepared):
    """An ensemble put together; its members will be.

    Args:
        put_together: makes a recipe ready for its data: what any other run is made ready by.
    """

    put_together: Callable[..., Prepared]


def prepare_ensemble(prepared: Prepared, put_together: Callable[..., Prepared]) -> PreparedEnsemble:
    """Try each kind of member on few rows, so that what a lesson will refuse is refused now."""
    recipe, data = prepared.recipe, prepared.data
    model = cast(Ensemble, prepared.model)
    if recipe.start_from:
        raise ConfigError(f"{recipe.model} initialises its members itself: remove `from`")
    rows = torch.arange(model.fewest_rows(len(data.train)))
    data = replace(data, train=data.train.take(rows), test=None)
    kinds = {member.name: member.config for member in cast(list[Member], list(model.members))}
    tried = [
        put_together(replace(recipe, model=name, model_settings=config), data, is_part=True)
        for name, config in kinds.items()
    ]
    unused = tuple(name for name in tried[0].unused if all(name in one.unused for one in tried))
    return PreparedEnsemble(**{**vars(prepared), "unused": unused}, put_together=put_together)


def ensemble_fit(prepared: PreparedEnsemble, here: RunContext) -> Outcome:
    """Let the members learn, one after the other; each lesson is a row of the history.

    A lesson that is done is kept in the run folder: a resumed run takes it from there
    and ends with the same ensemble, bit for bit. Stopped on the way, the ensemble consists of the
    members that had learned; of the first, where it was stopped in its lesson, what it knew.
    """
    model, recipe, kept = cast(Ensemble, prepared.model), prepared.recipe, None
    if here.folder is not None:
        kept = MemberCheckpoints(here.folder, prepared.data, recipe.train, here.allow)
        write_recipe(here.folder, recipe)  # what was changed was allowed
        if is_finished(here.folder):
            if not here.quiet:
                print_message(f"resuming from {here.folder}: all of its members are trained")
            return _as_it_ended(prepared, here.folder)
    course = _Course(prepared, here, kept)
    stopped: Outcome | None = None
    with Interrupt() as interrupt, closing(course.bar):
        for lesson in model.lessons(course.data.train, course.data.val, recipe.seed):
            stopped = course.go_through(lesson)
            if stopped is not None or interrupt.signal is not None:
                model.prune()
                break
        course.measure_together()
    status, exit_code = "done", interrupt.exit_code
    if interrupt.signal is not None:
        status = f"interrupted by {interrupt.signal.name}"
    elif stopped is not None and stopped.exit_code:
        status, exit_code = stopped.status, stopped.exit_code
    elif stopped is not None:
        status = f"the time limit of {recipe.train.max_time:g} s"
    return Outcome(
        history=course.history,
        status=status,
        epochs=course.lessons,
        best_epoch=course.lessons,
        seconds=time.monotonic() - course.started,
        finished=status == "done",
        notes=(*course.unused, *model.remarks),
        exit_code=exit_code,
    )


def _as_it_ended(prepared: Prepared, folder: Path) -> Outcome:
    """The ensemble of a finished run, and what its run had found."""
    prepared.model.load_state_dict(read_weights(folder))
    results = read_results(folder)
    return Outcome(
        history=read_history(folder / "metrics.jsonl"),
        status=results["status"],
        epochs=results["epochs"],
        best_epoch=results["best_epoch"],
        seconds=results["seconds"],
        notes=tuple(note for note in results["notes"] if note not in prepared.data.notes),
    )


class _Course:
    """The way through the lessons: what is learned, kept, measured and told.

    Args:
        prepared: the ensemble.
        here: where it learns.
        kept: lessons that are done; None for a run kept in memory.
    """

    def __init__(
        self, prepared: PreparedEnsemble, here: RunContext, kept: MemberCheckpoints | None
    ) -> None:
        self.prepared, self.here, self.folder, self.kept = prepared, here, here.folder, kept
        self.data = prepared.data.to(device_of(prepared.model))
        self.history, self.bar, self.lessons = History(), Bar(None, quiet=here.quiet), 0
        self.started = time.monotonic()
        if self.folder is not None:
            write_rows(self.folder / "metrics.jsonl", [])  # lessons that are kept are told again
        self.unused = unused_notes(prepared.recipe, prepared.model, prepared.unused)
        for note in () if here.quiet else self.unused:
            print_warning(note)

    def go_through(self, lesson: Lesson) -> Outcome | None:
        """Let the member learn, unless it had; gives how that ended where it was cut short."""
        number, was_kept = self.lessons + 1, False
        if self.kept is not None:
            was_kept = self.kept.restore(number, lesson.member)
        if not was_kept:
            outcome = self._learn(lesson)
            if not outcome.finished and (outcome.exit_code or self._time_left() == 0):
                return outcome
            if self.kept is not None:
                self.kept.keep(number, lesson.member)
        self.lessons = number
        self._tell(lesson, ", restored" if was_kept else "")
        return None

    def _learn(self, lesson: Lesson) -> Outcome:
        """Build the member as a run of its own would, and let it learn the same way."""
        recipe, member, left = self.prepared.recipe, lesson.member, self._time_left()
        train = recipe.train
        if left is not None:
            train = replace(train, max_time=max(left, SHORTEST))
        own = self.prepared.put_together(
            replace(
                recipe,
                model=member.name,
                model_settings=member.config,
                train=train,
                seed=lesson.seed,
            ),
            replace(self.prepared.data, train=lesson.train, val=lesson.val, test=None),
            is_part=True,
        )
        here = self.here
        alone = RunContext(extra=here.extra, on_own_step=here.on_own_step, quiet=True)
        outcome = (learner_fit if isinstance(own.model, Learner) else gradient_fit)(own, alone)
        member.model = own.model.eval()
        if isinstance(own.task, Regression):
            member.center.copy_(own.task.center)
            member.scale.copy_(own.task.scale)
        return outcome

    def _time_left(self) -> float | None:
        """Seconds until the limit; None where there is none."""
        limit = self.prepared.recipe.train.max_time
        return None if limit is None else max(0.0, limit - (time.monotonic() - self.started))

    def _tell(self, lesson: Lesson, remark: str) -> None:
        """How the member does on what it was to learn."""
        name, split = ("train", lesson.train) if lesson.val is None else ("val", lesson.val)
        measures = measure_quickly(lesson.member, measured_part(split), self.prepared.task)
        self._record(name, {f"member_{key}": value for key, value in measures.items()})
        self.bar.line(f"{lesson.title}{remark}: {name} {_listed(measures)}")

    def measure_together(self) -> None:
        """How the ensemble does on train and validation, and what it found out."""
        for name, split in self.data.splits():
            if name != "test":
                measures = measure_quickly(
                    self.prepared.model, measured_part(split), self.prepared.task
                )
                self._record(name, measures)
                self.bar.line(f"together: {name} {_listed(measures)}")
        for remark in cast(Ensemble, self.prepared.model).remarks:
            self.bar.line(remark)

    def _record(self, split: str, measures: dict[str, float]) -> None:
        rows = [
            Row(
                step=self.lessons,
                epoch=self.lessons,
                samples=self.lessons * len(self.data.train),
                time=round(time.monotonic() - self.started, 4),
                split=split,
                name=name,
                value=value,
            )
            for name, value in measures.items()
        ]
        self.history.rows.extend(rows)
        if self.folder is not None:
            append_rows(self.folder / "metrics.jsonl", rows)


def _listed(measures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in measures.items())
