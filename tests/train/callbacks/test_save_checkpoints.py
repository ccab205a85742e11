"""Which checkpoints are there: the newest few, the best, and everything that others wrote."""

import itertools
import json
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from netwright.core.files.manifest import check_folder
from netwright.train.callback import Callback
from netwright.train.callbacks import save_checkpoints
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_store import newest_good, step_name
from netwright.train.state import TrainState
from tests.repetition import for_each
from tests.train.toy_runs import (
    assert_same,
    copy_of,
    curve_fit,
    toy_data,
    toy_fit,
    toy_net,
    toy_trainer,
)


class StopAt(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            state.stop_reason = "stop"


def steps_in(folder: Path) -> list[int]:
    names = sorted(path.name for path in (folder / "checkpoints").iterdir())
    return [int(name.removeprefix("step-")) for name in names]


def pointer(folder: Path, name: str) -> int:
    target = json.loads((folder / name).read_text())["checkpoint"]
    assert (folder / "checkpoints" / target).is_dir(), f"{name} points to nothing"
    return int(target.removeprefix("step-"))


class PointersHold(Callback):
    """After every epoch the pointers name checkpoints that are there and whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_epoch_end(self, state: TrainState) -> None:
        for name in ("last.json", "best.json"):
            if (self.folder / name).exists():
                check_folder(self.folder / "checkpoints" / step_name(pointer(self.folder, name)))


def run_curve(folder: Path, curve: Sequence[float], **settings: Any) -> SaveCheckpoints:
    """One step an epoch: the step of a checkpoint is its epoch."""
    early = EarlyStopping()
    save = SaveCheckpoints(folder, watched=[early], best=early, **{"every": 1, **settings})
    curve_fit(curve, early, save, PointersHold(folder))
    return save


@pytest.mark.parametrize(
    ("curve", "keep", "left", "best"),
    [
        ([5, 4, 3, 4, 5, 6], 2, [3, 5, 6], 3),  # the best is kept beside the newest two
        ([6, 5, 4, 3, 2, 1], 2, [5, 6], 6),
        ([1, 2, 3, 4, 5, 6], 1, [1, 6], 1),
        ([3, 1, 2, 0, 5, 6], 1, [4, 6], 4),  # a former best goes when it is no longer the best
        ([1, 2], 5, [1, 2], 1),
    ],
)
def test_the_newest_and_the_best_are_kept(
    tmp_path: Path, curve: list[float], keep: int, left: list[int], best: int
) -> None:
    run_curve(tmp_path, curve, keep=keep)
    assert steps_in(tmp_path) == left
    assert pointer(tmp_path, "best.json") == best
    assert pointer(tmp_path, "last.json") == len(curve)


def test_best_never_points_to_what_was_dropped(tmp_path: Path) -> None:
    # Saved are 2, 4, 6, 8: epoch 3 is better than all of them, epoch 2 the best of the saved.
    run_curve(tmp_path, [9, 2, 1, 5, 5, 5, 5, 5], every=2, keep=1)
    assert pointer(tmp_path, "best.json") == 2
    assert steps_in(tmp_path) == [2, 8]


@pytest.mark.parametrize(
    ("curve", "every", "best"),
    [
        ([3, 2, 1, 1.5, 4, 5], 2, 4),  # 3 was not saved: of 2, 4, 6 it is 4
        ([1, 5, 4, 3], 2, 4),  # the best of all was before the first save
        ([1, 5, 4, 4], 2, 4),
        ([0, 4, 3, 4, 2, 4], 2, 2),  # the first of equals
        ([9, 2, 1, 5, 0, 3, 8, 2.5], 2, 2),
        ([9, 8, 1, 5, 0, 3, 8, 2.5], 4, 8),
        ([9, 8, 1, 5, 0, 3, 8, 2.5], 3, 3),
    ],
)
@pytest.mark.parametrize("keep", [1, 2, 9])
def test_best_is_the_best_of_what_was_saved(
    tmp_path: Path, curve: list[float], every: int, best: int, keep: int
) -> None:
    run_curve(tmp_path, curve, every=every, keep=keep)
    assert pointer(tmp_path, "best.json") == best


def go_on(folder: Path, curve: Sequence[float], step: int, **settings: Any) -> None:
    """A new process, from the checkpoint of a step."""
    origin = folder / "checkpoints" / step_name(step)
    early = EarlyStopping()
    save = SaveCheckpoints(
        folder, watched=[early], best=early, origin=origin, **{"every": 2, **settings}
    )

    class GoOn(Callback):
        def on_fit_start(self, state: TrainState) -> None:
            load_checkpoint(origin, state, [early], allow=["epochs"])

    curve_fit(curve, GoOn(), early, save)


def test_best_is_the_best_of_what_was_saved_after_a_resume_and_a_kill(tmp_path: Path) -> None:
    curve = [3, 2, 1, 1.5, 4, 1.7, 5, 6]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    run_curve(whole, curve, every=2)
    for kill in ("after the pointers", "before best.json", "before last.json"):
        shutil.rmtree(killed, ignore_errors=True)
        killed.mkdir()
        run_curve(killed, curve[:2], every=2)
        before = [(killed / name).read_text() for name in ("last.json", "best.json")]
        go_on(killed, curve[:4], 2)
        assert pointer(killed, "best.json") == 4
        if kill != "after the pointers":
            (killed / "best.json").write_text(before[1])
        if kill == "before last.json":
            (killed / "last.json").write_text(before[0])
        place, _ = newest_good(killed)
        assert place == killed / "checkpoints" / step_name(4)
        go_on(killed, curve, 4)
        assert pointer(killed, "best.json") == pointer(whole, "best.json") == 4
        assert steps_in(killed) == steps_in(whole)


def test_best_moves_on_where_the_best_was_removed(tmp_path: Path) -> None:
    run_curve(tmp_path, [1, 2, 3, 4], every=1, keep=3)
    assert pointer(tmp_path, "best.json") == 1
    shutil.rmtree(tmp_path / "checkpoints" / step_name(1))
    go_on(tmp_path, [1, 2, 3, 4], 4)
    assert pointer(tmp_path, "best.json") == 2


def test_where_a_run_goes_back_its_best_is_of_what_it_went_back_to(tmp_path: Path) -> None:
    run_curve(tmp_path, [2, 3, 1, 5], every=1, keep=9)
    assert pointer(tmp_path, "best.json") == 3
    go_on(tmp_path, [2, 3, 4, 5], 2, every=1, keep=9)
    assert pointer(tmp_path, "best.json") == 1


def test_what_is_saved_before_it_is_measured_counts_once_it_was(tmp_path: Path) -> None:
    """Saves fall on the last batch of each pass, and passes are measured after it."""
    early = EarlyStopping()
    save = SaveCheckpoints(tmp_path, watched=[early], best=early, every=99, every_steps=1, keep=9)
    curve_fit([3, 1, 2], early, save)
    assert pointer(tmp_path, "best.json") == 2


def test_saves_every_few_epochs_and_at_the_end(tmp_path: Path) -> None:
    run_curve(tmp_path, [7, 6, 5, 4, 3, 2, 1], every=3, keep=9)
    assert steps_in(tmp_path) == [3, 6, 7]
    assert pointer(tmp_path, "best.json") == pointer(tmp_path, "last.json") == 7


def test_without_early_stopping_the_last_is_the_best(tmp_path: Path) -> None:
    curve_fit([1, 2, 3], SaveCheckpoints(tmp_path, every=1, keep=1))
    assert steps_in(tmp_path) == [3]
    assert pointer(tmp_path, "best.json") == pointer(tmp_path, "last.json") == 3


def test_what_others_wrote_is_never_deleted(tmp_path: Path) -> None:
    checkpoints = tmp_path / "checkpoints"
    for name in ("step-000000", "step-000099", "mine"):
        (checkpoints / name).mkdir(parents=True)
        (checkpoints / name / "notes.txt").write_text("keep")
    (checkpoints / "file.txt").write_text("keep")
    run_curve(tmp_path, [3, 2, 1, 4, 5], keep=1)
    for name in ("step-000000", "step-000099", "mine"):
        assert (checkpoints / name / "notes.txt").read_text() == "keep"
    assert (checkpoints / "file.txt").exists()
    assert (checkpoints / "step-000005").is_dir()
    assert not (checkpoints / "step-000004").exists()


def test_the_last_weights_are_saved_before_the_best_are_put_back(tmp_path: Path) -> None:
    early = EarlyStopping()
    save = SaveCheckpoints(tmp_path, watched=[early], best=early, every=9)
    final = curve_fit([1, 2, 3], early, save)
    assert int(final.model.state_dict()["weight"]) == 1
    weights = load_file(tmp_path / "checkpoints" / step_name(3) / "model.safetensors")
    assert int(weights["weight"]) == 3


def resume(folder: Path, **settings: Any) -> TrainState:
    early, data = EarlyStopping(), toy_data()
    trainer = toy_trainer(data, callbacks=[early], **settings)
    state = trainer.start(toy_net(dropout=0.3), data)
    place = folder / "checkpoints" / step_name(pointer(folder, "last.json"))
    load_checkpoint(place, state, [early])
    trainer.fit(state, data)
    return state


@pytest.mark.parametrize("step", [1, 4, 5, 8])  # 5 steps an epoch: in the first, at its end, later
def test_a_stopped_run_is_saved_where_it_stopped_and_goes_on_exactly(
    tmp_path: Path, step: int
) -> None:
    early = EarlyStopping()
    save = SaveCheckpoints(tmp_path, watched=[early], best=early, every=1)
    stopped = toy_fit(toy_net(dropout=0.3), toy_data(), callbacks=[StopAt(step), early, save])
    assert pointer(tmp_path, "last.json") == step == stopped.step
    whole = toy_fit(toy_net(dropout=0.3), toy_data(), callbacks=[EarlyStopping()])
    resumed = resume(tmp_path)
    assert_same(copy_of(resumed.model), copy_of(whole.model))
    ours, wanted = (
        [{**asdict(row), "time": 0} for row in state.history] for state in (resumed, whole)
    )
    assert ours == wanted  # also the pass that was first measured unfinished


def test_the_same_step_saved_again_is_a_checkpoint_of_its_own(tmp_path: Path) -> None:
    class Overflow(Callback):
        """All updates after the first epoch of 5 overflow in float16."""

        def on_fit_start(self, state: TrainState) -> None:
            weight = next(state.model.parameters())
            weight.register_hook(  # type: ignore[no-untyped-call]
                lambda grad: grad * torch.inf if state.samples >= 20 else grad
            )

    save = SaveCheckpoints(tmp_path, every=1, keep=1)
    settings = {"precision": "fp16-mixed", "epochs": 4}
    state = toy_fit(toy_net(), toy_data(), callbacks=[Overflow(), save], **settings)
    assert (state.step, state.epoch) == (5, 4)
    assert save.store.saved == [step_name(5, 4)]
    last, remarks = newest_good(tmp_path)
    assert last == tmp_path / "checkpoints" / "step-000005-4"
    assert not remarks
    assert json.loads((last / "state.json").read_text())["epoch"] == 4


def test_nothing_is_saved_where_nothing_was_learned(tmp_path: Path) -> None:
    class StopAtOnce(Callback):
        def on_fit_start(self, state: TrainState) -> None:
            state.stop_reason = "at once"

    toy_fit(toy_net(), toy_data(), callbacks=[StopAtOnce(), SaveCheckpoints(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_somebody_removed_does_not_stop_the_run(tmp_path: Path) -> None:
    class Tidy(Callback):
        def on_epoch_end(self, state: TrainState) -> None:
            shutil.rmtree(tmp_path / "checkpoints" / step_name(state.step - 1), ignore_errors=True)

    curve_fit([1, 1, 1, 1], SaveCheckpoints(tmp_path, every=1, keep=2), Tidy())
    assert steps_in(tmp_path) == [4]


def test_names_sort_like_steps() -> None:
    assert step_name(100) == "step-000100"
    assert sorted(map(step_name, [9, 10, 100_000])) == [step_name(s) for s in (9, 10, 100_000)]


def test_by_updates_it_is_saved_after_updates_and_never_between_their_batches(
    tmp_path: Path,
) -> None:
    save = SaveCheckpoints(tmp_path, every=99, every_steps=1, keep=99)
    toy_fit(toy_net(), toy_data(), callbacks=[save], accumulate=2, epochs=2)  # 3 updates each
    *on_the_way, _end = save.store.saved
    assert on_the_way == [step_name(step) for step in range(1, 7)]


@pytest.mark.parametrize(("every", "saved"), [(None, [2, 4, 5]), (1, [5])])
def test_a_long_epoch_is_saved_on_the_way_unless_epochs_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int | None, saved: list[int]
) -> None:
    hours = itertools.count(step=3600.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    monkeypatch.setattr(save_checkpoints, "LOOK_EVERY", 2)
    monkeypatch.setattr(save_checkpoints, "MOST_OF_TIME", math.inf)
    callbacks = [SaveCheckpoints(tmp_path, every=every, keep=99)]
    toy_fit(toy_net(), toy_data(), callbacks=callbacks, epochs=1)
    assert steps_in(tmp_path) == saved


@pytest.mark.parametrize(
    ("share", "every", "saved"),
    [(math.inf, None, [2, 4, 5]), (1e-9, None, [5]), (math.inf, 1, [5])],
)
def test_what_is_measured_on_the_way_is_saved_where_saving_takes_little_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, every: int | None, saved: Any
) -> None:
    monkeypatch.setattr(save_checkpoints, "MOST_OF_TIME", share)
    save = SaveCheckpoints(tmp_path, every=every, keep=99)
    toy_fit(toy_net(), toy_data(), callbacks=[save], epochs=1, eval_every=2)
    assert steps_in(tmp_path) == saved


@for_each(("rate", "saved"), [(1e-9, [10]), (math.inf, [5, 10])])
def test_what_the_first_save_will_take_is_guessed_by_its_size(
    tmp_path_factory: pytest.TempPathFactory, rate: float, saved: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(save_checkpoints, "GUESSED_RATE", rate)
        patch.setattr(save_checkpoints, "MOST_OF_TIME", math.inf if rate == math.inf else 1.0)
        callbacks = [SaveCheckpoints(folder, keep=99)]
        toy_fit(toy_net(), toy_data(), callbacks=callbacks, epochs=2)
    assert steps_in(folder) == saved


def test_a_checkpoint_is_guessed_as_the_model_with_two_moments_of_each_weight() -> None:
    data = toy_data()
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    state = toy_trainer(data, epochs=1).start(model, data)
    learned, statistics = 4 * (9 + 3 + 3 + 3), 4 * (3 + 3) + 8
    assert save_checkpoints._size(state) == 3 * learned + statistics
