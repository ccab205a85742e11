"""Stops at every kind of place, with and without data workers: what follows is the same run."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from netwright.data.loading import worker_loader, worker_pool
from netwright.data.loading.worker_loader import build_loader
from netwright.train import trainer
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.saving import checkpoint
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.state import TrainState
from netwright.train.watching.history import without_clock
from netwright.train.watching.recent_losses import RecentLosses
from netwright.train.watching.running_metrics import RunningMetrics
from tests.faults.scenario import Figures, Scenario
from tests.faults.small_runs import is_same, stored_data
from tests.faults.test_io_faults import quick_disk
from tests.train.toy_runs import copy_of, toy_net, toy_trainer

EPOCHS, ROWS, BATCH_SIZE = 3, 20, 4  # 5 batches an epoch; with two an update, the last has one
START, BATCH, VALIDATION, EPOCH = "start", "batch end", "validation", "epoch end"


class Place(NamedTuple):
    """Where a run is stopped: the event, the epochs made, and the batches of the present one."""

    event: str
    epoch: int
    position: int


STOPS = {
    "step 0": [Place(START, 0, 0)],
    "mid-epoch": [Place(BATCH, 1, 2)],
    "last batch": [Place(BATCH, 1, 5)],
    "epoch end": [Place(EPOCH, 2, 0)],
    "mid-accumulation": [Place(BATCH, 1, 3)],
    "during validation": [Place(VALIDATION, 2, 0)],
    "after a row and before the next": [Place(BATCH, 2, 2)],  # one update of two
    "after a measurement on the way": [Place(BATCH, 0, 4)],  # of the second update
    "one step after a resume": [Place(BATCH, 1, 2), Place(BATCH, 1, 4)],
    "three resumes in one epoch": [Place(BATCH, 1, position) for position in (1, 3, 4)],
}


class Mode(NamedTuple):
    """How stored data is read."""

    workers: int
    persistent: bool


ALONE = Mode(workers=0, persistent=True)
MODES = [ALONE, Mode(workers=2, persistent=False), Mode(workers=2, persistent=True)]


class StopError(Exception):
    """The fault that is made."""


class Stop(Callback):
    """Saves and raises at a place; nobody can save during validation."""

    def __init__(self, place: Place | None, save: SaveCheckpoints) -> None:
        self.place, self.save = place, save

    def on_fit_start(self, state: TrainState) -> None:
        self.look(START, state)
        state.model.register_forward_pre_hook(
            lambda model, inputs: None if model.training else self.look(VALIDATION, state)
        )

    def on_batch_end(self, state: TrainState) -> None:
        self.look(BATCH, state)

    def on_epoch_end(self, state: TrainState) -> None:
        self.look(EPOCH, state)

    def look(self, event: str, state: TrainState) -> None:
        if self.place == (event, state.epoch, state.position):
            if event != VALIDATION:
                self.save.save(state)
            raise StopError


class Rows(Callback):
    """Notes which rows are used, over all lives of a run."""

    def __init__(self, seen: list[int]) -> None:
        self.seen = seen

    def on_batch_end(self, state: TrainState) -> None:
        assert state.batch is not None
        self.seen += state.batch.rows.tolist()


def live(run: Path, mode: Mode, place: Place | None, seen: list[int]) -> dict[str, Any]:
    """Begin a run, or go on with it, all of it built anew; nothing comes back where it stops."""
    data = stored_data(run.parent, ROWS)
    early, rows = EarlyStopping(restore_best=False), StepRows(2)
    watched = [rows, early]
    goes_on, _ = newest_good(run)
    save = SaveCheckpoints(run, watched=watched, best=early, every=1, every_steps=1, origin=goes_on)
    trainer = toy_trainer(
        data,
        callbacks=[*watched, Rows(seen), save, Stop(place, save)],
        epochs=EPOCHS,
        batch_size=BATCH_SIZE,
        accumulate=2,
        optimizer="adamw",
        schedule="cosine",
        eval_every=2,
        workers=mode.workers,
    )
    state = trainer.start(toy_net(batch_norm=True, dropout=0.4), data)
    if goes_on is not None:
        load_checkpoint(goes_on, state, watched)
    try:
        trainer.fit(state, data)
    except StopError:
        return {}
    return {
        "rows": seen,
        "model": copy_of(state.model),
        "optimizer": state.optimizer.state_dict(),
        "schedule": state.schedule.state_dict(),
        "history": [without_clock(asdict(row)) for row in state.history],
        "early": early.state_dict(),
        "counts": [state.epoch, state.position, state.accumulated, state.step, state.samples],
    }


def lives(run: Path, mode: Mode, places: Sequence[Place], counts: Counter[str]) -> dict[str, Any]:
    """A run with stops at these places: what it is at its end."""
    run.mkdir()
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "build_loader", partial(build_loader, persistent=mode.persistent))
        for place in places:
            counts["stops"] += not live(run, mode, place, seen)
        end = live(run, mode, None, seen)
    times = Counter(seen)
    counts["samples lost"] += sum(max(0, EPOCHS - times[row]) for row in range(ROWS))
    counts["samples duplicated"] += sum(max(0, times[row] - EPOCHS) for row in range(ROWS))
    return end


def measure(
    folder: Path, modes: Sequence[Mode] = MODES, stops: Sequence[str] = tuple(STOPS)
) -> Figures:
    counts: Counter[str] = Counter()
    with quick_disk():
        whole = lives(folder / "whole", ALONE, [], counts)
        results = [
            is_same(lives(folder / f"{name}-{number}", mode, STOPS[name], counts), whole)
            for number, mode in enumerate(modes)
            for name in stops
        ]
    return Figures(n=len(results), passed=sum(results), counts=dict(counts))


SCENARIO = Scenario(
    code="T03", title="Stops at every kind of place", measure=measure, least={"stops": 39}
)


def test_a_run_that_is_stopped_anywhere_goes_on_exactly(tmp_path: Path) -> None:
    figures = measure(tmp_path, [ALONE])
    assert figures.passed == figures.n == 10
    assert figures.counts == {"stops": 13, "samples lost": 0, "samples duplicated": 0}


def test_a_run_with_data_workers_goes_on_exactly_from_the_middle_of_an_epoch(
    tmp_path: Path,
) -> None:
    figures = measure(tmp_path, [Mode(workers=2, persistent=True)], ["one step after a resume"])
    assert figures.passed == figures.n == 1
    assert figures.counts == {"stops": 2, "samples lost": 0, "samples duplicated": 0}


@pytest.mark.slow
def test_with_and_without_data_workers_a_run_goes_on_exactly_from_anywhere(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == 30
    assert figures.counts["samples lost"] == figures.counts["samples duplicated"] == 0


def forgetting(**fresh: Any) -> Callable[..., list[str]]:
    """Restoring as it is, but for these parts of the state, which stay as in a new one."""
    restore = checkpoint._restore_place

    def forget(state: TrainState, *rest: Any) -> list[str]:
        remarks = restore(state, *rest)
        for name, value in fresh.items():
            setattr(state, name, value)
        return remarks

    return forget


@pytest.mark.slow
def test_planted_bug_the_place_is_not_restored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_restore_place", forgetting(position=0))
    figures = measure(tmp_path, [ALONE])
    assert figures.passed == 2  # step 0 and an epoch's end
    assert figures.counts["samples duplicated"] > 0


@pytest.mark.slow
def test_planted_bug_gradients_that_wait_are_not_restored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_restore_place", forgetting(gradients={}))
    assert measure(tmp_path, [ALONE]).passed == 8  # not mid-accumulation, not the three resumes


@pytest.mark.slow
def test_planted_bug_outputs_that_wait_to_be_measured_are_not_restored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = RunningMetrics.load_state_dict

    def bug(self: RunningMetrics, values: dict[str, Any]) -> None:
        counted = torch.tensor(float(values["rows"]))  # that they were there is known
        load(self, {**values, "held": [], "counted": counted})

    monkeypatch.setattr(RunningMetrics, "load_state_dict", bug)
    assert measure(tmp_path, [ALONE]).passed == 2  # step 0 and an epoch's end


@pytest.mark.slow
def test_planted_bug_batches_are_numbered_from_where_the_epoch_is_entered_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_zero = lambda parts, start: enumerate(parts)  # noqa: E731
    monkeypatch.setattr(worker_loader, "enumerate", from_zero, raising=False)
    assert measure(tmp_path, [ALONE]).passed == 4  # where no epoch was entered in its middle


@pytest.mark.slow
def test_planted_bug_every_worker_draws_numbers_of_its_own_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_seed_of", lambda reading, seed: os.getpid())
    assert measure(tmp_path, [Mode(workers=2, persistent=True)]).passed == 0


@pytest.mark.slow
def test_planted_bug_losses_since_the_last_row_are_not_restored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecentLosses, "load_state_dict", lambda self, values: None)
    figures = measure(tmp_path, [ALONE])
    assert 0 < figures.passed < figures.n


@pytest.mark.slow
def test_planted_bug_measurements_come_after_the_checkpoint_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint of the step before its measurement goes on without it."""
    early = SaveCheckpoints.on_batch_end
    monkeypatch.setattr(SaveCheckpoints, "on_step_end", early)
    monkeypatch.setattr(SaveCheckpoints, "on_batch_end", Callback.on_batch_end)
    figures = measure(tmp_path, [ALONE])
    assert 0 < figures.passed < figures.n
