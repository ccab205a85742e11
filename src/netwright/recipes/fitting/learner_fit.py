"""Learning by a model's own rule: the driver pulls its steps, measures, and stops when asked."""

import math
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple, cast

from netwright.core.devices import device_of
from netwright.core.errors import RunError
from netwright.core.learner import Learner, SteppedLearner
from netwright.core.terminal.console import Bar, print_warning
from netwright.core.terminal.interrupts import Interrupt
from netwright.data.dataset import Split
from netwright.data.loading.stored import evenly_spaced
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.fitting.step_saver import NO_PROGRESS, StepSaver
from netwright.recipes.plan.unused_settings import unused_notes
from netwright.train.evaluate import measure_quickly
from netwright.train.saving.learner_checkpoint import Progress
from netwright.train.settings import TrainConfig
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.task import Task
from netwright.train.watching.history import History, Row, append_rows, write_rows

MOST_MEASURED = 10_000  # rows of a split, while learning; the results are of all rows


def learner_fit(prepared: Prepared, here: RunContext) -> Outcome:
    """Let the model learn in place; each of its steps is a row of the history.

    Rows of weight 0 are not shown to it: they count as not there. At the end train and validation
    are measured side by side, as in any other run; of many training rows a part, evenly spread,
    since a memory takes long over each.
    Few settings of training apply, the time limit and class weights among them: others that were
    given are named. One that goes on exactly leaves checkpoints; others start over when resumed.
    """
    module, task, config = prepared.model, prepared.task, prepared.recipe.train
    model = cast(Learner, module)
    folder = here.folder
    data = prepared.data.to(device_of(module))
    saver = StepSaver(prepared, here) if isinstance(model, SteppedLearner) else None
    before = NO_PROGRESS if saver is None else saver.progress_before()
    history, bar = History(), Bar(None, quiet=here.quiet)
    train = _counted(data.train, task)
    pace = Pace(
        model.steps_per_epoch(train) if isinstance(model, SteppedLearner) else 1, len(data.train)
    )
    # Counted anew: a run that began in an earlier version counted each step as a pass.
    history.rows.extend(
        replace(row, epoch=pace.epochs(row.step), samples=pace.samples(row.step))
        for row in before.rows
    )
    if folder is not None:
        write_rows(folder / "metrics.jsonl", history.rows)  # what an interrupted run left is gone
    began = time.monotonic()
    started = began - before.elapsed
    status, steps = "", before.steps

    def record(split: str, numbers: dict[str, float]) -> None:
        rows = _rows(split, numbers, Moment(steps, pace, time.monotonic() - started))
        history.rows.extend(rows)
        if folder is not None:
            append_rows(folder / "metrics.jsonl", rows)

    notes = unused_notes(prepared.recipe, module, prepared.unused)
    for remark in () if here.quiet else filter(None, (*notes, model.forewarning(len(data.train)))):
        print_warning(remark)
    with Interrupt() as interrupt, closing(bar):
        for numbers in _steps(model, train, prepared.recipe.seed, steps):
            steps += 1
            record("train", numbers)
            bar.move(steps, ", ".join(f"{name} {value:.4g}" for name, value in numbers.items()))
            status = _why_stopped(interrupt, config, time.monotonic() - began)
            if saver is not None:
                saver.after_step(
                    Progress(steps, time.monotonic() - started, history.rows), ends=bool(status)
                )
            here.on_own_step(numbers)
            if status:
                break
    status = status or "done"
    told = {row.name for row in history.rows}
    measured = [] if task.unmeasured else [name for name, _ in data.splits() if name != "test"]
    for split in measured:
        measures = measure_quickly(module, measured_part(data.split(split)), task)
        record(split, {k: v for k, v in measures.items() if split == "val" or k not in told})
    found = f"; {model.verdict}" if model.verdict else ""
    bar.line(f"{steps} step{'' if steps == 1 else 's'} of its own learning rule: {status}{found}")
    return Outcome(
        history=history,
        status=status,
        epochs=pace.epochs(steps),
        best_epoch=model.kept_step or pace.epochs(steps),
        steps=_parts_of_passes(model, steps),
        best_step=_parts_of_passes(model, steps),
        seconds=time.monotonic() - started,
        finished=status == "done",
        notes=notes,
        exit_code=interrupt.exit_code,
    )


def _steps(model: Learner, train: Split, seed: int, made: int) -> Iterator[dict[str, float]]:
    """The steps of a rule; where it goes on exactly, those after what was made."""
    if isinstance(model, SteppedLearner):
        return model.fit_steps_from(train, seed, made)
    return model.fit_steps(train, seed)


def _parts_of_passes(model: Learner, steps: int) -> int:
    """The steps of a rule that has several in a pass; of others they are the passes: 0."""
    return steps if isinstance(model, SteppedLearner) else 0


def _why_stopped(interrupt: Interrupt, config: TrainConfig, elapsed: float) -> str:
    """Why learning ends before it is done; empty where it goes on."""
    if interrupt.signal is not None:
        return f"interrupted by {interrupt.signal.name}"
    if config.max_time is not None and elapsed >= config.max_time:
        return f"the time limit of {config.max_time:g} s"
    return ""


def _counted(train: Split, task: Task) -> Split:
    """The rows that count something; where classes have weights, they are the rows' weights."""
    if isinstance(task, Classification) and task.class_weights is not None:
        of_class = task.class_weights.to(train.targets.device)[train.targets]
        train = replace(
            train, weights=of_class if train.weights is None else train.weights * of_class
        )
    if train.weights is None or bool((train.weights > 0).all()):
        return train
    return train.take((train.weights > 0).nonzero()[:, 0])


def measured_part(split: Split) -> Split:
    """At most so many rows, evenly spread over the split."""
    if len(split) <= MOST_MEASURED:
        return split
    return split.take(evenly_spaced(len(split), MOST_MEASURED).to(split.targets.device))


class Pace(NamedTuple):
    """How many steps and examples a pass over the data has."""

    steps: int
    examples: int

    def epochs(self, step: int) -> int:
        """Whole passes so far."""
        return step // self.steps

    def samples(self, step: int) -> int:
        """Examples seen so far."""
        return step * self.examples // self.steps


class Moment(NamedTuple):
    """When something was measured: after how many steps of which pace, and seconds."""

    step: int
    pace: Pace
    elapsed: float


def _rows(split: str, numbers: dict[str, float], moment: Moment) -> list[Row]:
    for name, value in numbers.items():
        if not math.isfinite(value):
            raise RunError(f"{name} is not a finite number at step {moment.step}, got {value}")
    return [
        Row(
            step=moment.step,
            epoch=moment.pace.epochs(moment.step),
            samples=moment.pace.samples(moment.step),
            time=round(moment.elapsed, 4),
            split=split,
            name=name,
            value=value,
        )
        for name, value in numbers.items()
    ]
