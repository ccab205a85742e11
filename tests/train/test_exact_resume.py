"""A run that goes on from a checkpoint is, bit for bit, the run that was never interrupted."""

import random
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.repetition import slow_but
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_net, toy_trainer, weighed

RUNS: dict[str, dict[str, Any]] = {
    "adam": {"optimizer": "adam", "schedule": "cosine", "lr": 0.05},
    "adam foreach": {"optimizer": "adam", "kernel": "foreach", "warmup": 4, "schedule": "linear"},
    "adamw": {"optimizer": "adamw", "weight_decay": 0.1, "schedule": "cosine"},
    "momentum": {"optimizer": "momentum", "schedule": "cosine"},
    "accumulated": {"optimizer": "nesterov", "batch_size": 2, "accumulate": 2},
    "lbfgs": {"optimizer": "lbfgs", "schedule": "cosine", "optimizer_options": {"max_iter": 3}},
    "regularized": {
        "optimizer": "sgd",
        "schedule": "cosine",
        "l1": 0.01,
        "l2": 0.01,
        "clip_norm": 0.5,
        "input_noise": 0.1,
        "label_noise": 0.1,
        "weight_noise": 0.1,
        "gradient_noise": 0.01,
        "output_noise": 0.1,
        "average": "exponential",
        "average_decay": 0.8,
    },
    "averaged": {
        "batch_size": 2,
        "accumulate": 2,
        "average": "equal",
        "weight_noise": 0.1,
        "weight_decay": 0.1,
        "penalize": "weights",
    },
    "float16": {"optimizer": "adam", "precision": "fp16-mixed", "schedule": "cosine"},
}
BATCHES = {1, 7, 8, 10}  # of 4 rows: the first, two in the middle, the last of an epoch of 5
PLACES = ["start", *(f"batch-{count}" for count in BATCHES), "epoch-1", "epoch-2", "epoch-3"]
QUICK_PLACES = ("start", "batch-7", "batch-10", "epoch-2")


class Diary(Callback):
    """Saves at the chosen moments; notes the rows of each update and what all generators draw."""

    def __init__(self, folder: Path | None, at: set[int], *watched: Callback) -> None:
        self.folder, self.at, self.watched = folder, at, watched
        self.notes: dict[int, list[float]] = {}

    def save(self, name: str, state: TrainState) -> None:
        if self.folder is not None:
            save_checkpoint(self.folder / name, state, self.watched)

    def on_fit_start(self, state: TrainState) -> None:
        if not state.samples:
            self.save("start", state)

    def on_step_end(self, state: TrainState) -> None:
        assert state.batch is not None
        draws = [random.random(), float(np.random.rand()), torch.rand(()).item()]
        self.notes[state.samples] = [*state.batch.rows.tolist(), *draws]
        if state.samples // 4 in self.at:
            self.save(f"batch-{state.samples // 4}", state)

    def on_epoch_end(self, state: TrainState) -> None:
        if self.at is BATCHES:
            self.save(f"epoch-{state.epoch}", state)


class Life:
    """A run from its own objects, all built anew: fresh, or gone on with from a checkpoint."""

    def __init__(
        self,
        kind: str,
        folder: Path | None = None,
        go_on: Path | None = None,
        at: set[int] = BATCHES,
    ) -> None:
        data = toy_data()
        data = replace(data, train=weighed(data.train, [1, 2, 3, 4] * 5))
        self.early = EarlyStopping(patience=9, min_delta=0.01, restore_best=False)
        self.diary = Diary(folder, at, self.early)
        calls = [self.early, self.diary]
        trainer = toy_trainer(data, callbacks=calls, **RUNS[kind])
        self.state = trainer.start(toy_net(batch_norm=True, dropout=0.4), data)
        if kind == "float16":
            first = next(self.state.model.parameters())
            first.register_hook(self.overflow)  # type: ignore[no-untyped-call]
        if go_on is not None:
            load_checkpoint(go_on, self.state, [self.early])
        trainer.fit(self.state, data)

    def overflow(self, grad: Tensor) -> Tensor:
        return grad * torch.inf if self.state.samples in {0, 28, 32} else grad

    def everything(self) -> dict[str, Any]:
        state = self.state
        rows = [{k: v for k, v in asdict(row).items() if k != "time"} for row in state.history]
        return {
            "model": copy_of(state.model),
            "optimizer": state.optimizer.state_dict(),
            "schedule": state.schedule.state_dict(),
            "scaler": None if state.scaler is None else state.scaler.state_dict(),
            "average": None if state.average is None else state.average.state_dict(),
            "history": rows,
            "early": self.early.state_dict(),
            "counts": [state.epoch, state.position, state.step, state.samples, state.running.rows],
        }


@pytest.fixture(scope="module", params=RUNS)
def saved(request: pytest.FixtureRequest, tmp_path_factory: Any) -> tuple[str, Path, Life]:
    folder: Path = tmp_path_factory.mktemp("life")
    return request.param, folder, Life(request.param, folder)


@pytest.mark.parametrize("place", slow_but(QUICK_PLACES, PLACES))
def test_going_on_is_bit_for_bit_the_uninterrupted_run(
    saved: tuple[str, Path, Life], place: str
) -> None:
    kind, folder, life = saved
    again = Life(kind, go_on=folder / place)
    assert_same(again.everything(), life.everything())
    for samples, notes in again.diary.notes.items():
        assert notes == life.diary.notes[samples]


def test_saving_does_not_change_the_run(saved: tuple[str, Path, Life]) -> None:
    kind, _, life = saved
    assert_same(Life(kind).everything(), life.everything())


def test_going_on_three_times_in_one_epoch_is_exact(
    saved: tuple[str, Path, Life], tmp_path: Path
) -> None:
    kind, folder, life = saved
    place = folder / "batch-7"
    for count in (8, 9):
        again = Life(kind, folder=tmp_path, go_on=place, at={count})
        place = tmp_path / f"batch-{count}"
    again = Life(kind, go_on=place)
    assert_same(again.everything(), life.everything())
