"""Measurements on the way: where they are taken, and who heeds them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.files.storage import read_json
from netwright.optimizers.plateau import PlateauRates
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.evaluate import measure_quickly
from netwright.train.measuring import Measuring
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net


class Looks(Callback):
    """Measures again where it is told of a measurement."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []

    def on_evaluation(self, state: TrainState) -> None:
        self.places.append((state.step, state.position))
        val = toy_data().val
        assert val is not None
        assert (
            state.history.latest("val/loss")
            == measure_quickly(state.model, val, state.task)["loss"]
        )


def measured(state: TrainState, key: str = "val/loss") -> list[int]:
    return [row.step for row in state.history if row.key == key]


def test_there_is_one_every_so_many_updates_and_one_at_the_end_of_a_pass() -> None:
    looks = Looks()
    state = toy_fit(toy_net(), toy_data(), eval_every=2, callbacks=[looks])  # 5 updates a pass
    assert measured(state) == [2, 4, 5, 6, 8, 10, 12, 14, 15]
    assert measured(state, "train/loss") == [5, 10, 15]
    assert looks.places == [(2, 2), (4, 4), (6, 1), (8, 3), (12, 2), (14, 4)]


@pytest.mark.parametrize("settings", [{}, {"average": "exponential"}, {"accumulate": 2}])
def test_they_change_nothing_of_training(settings: dict[str, Any]) -> None:
    ends = [
        toy_fit(toy_net(batch_norm=True, dropout=0.4), toy_data(), eval_every=every, **settings)
        for every in (None, 1)
    ]
    for got, wanted in zip(*(state.model.state_dict().values() for state in ends), strict=True):
        assert torch.equal(got, wanted)
    losses = [state.history.series("train/loss") for state in ends]
    assert losses[0] == losses[1]


def test_a_run_of_so_many_updates_ends_with_a_measurement() -> None:
    state = toy_fit(toy_net(), toy_data(), epochs=None, max_steps=7)
    assert (state.step, state.epoch, state.position) == (7, 1, 2)
    assert (state.stop_reason, state.is_whole, state.unfinished_rows) == ("", True, 0)
    assert measured(state) == measured(state, "train/loss") == [5, 7]
    assert (state.epochs, state.all_updates) == (2, 7)


def test_without_validation_data_training_is_measured_at_the_last_update() -> None:
    state = toy_fit(toy_net(), toy_data(val=0), epochs=None, max_steps=3)
    assert measured(state, "train/loss") == [3]


def test_schedules_span_a_run_of_so_many_updates() -> None:
    rates: list[float] = []

    class Rates(Callback):
        def on_before_update(self, state: TrainState) -> None:
            rates.append(state.lr)

    settings: dict[str, Any] = {"schedule": "linear", "lr": 1.0, "callbacks": [Rates()]}
    state = toy_fit(toy_net(), toy_data(), epochs=None, max_steps=8, **settings)
    assert rates == pytest.approx([1 - step / 8 for step in range(8)])
    assert state.lr == pytest.approx(0, abs=1e-12)


def test_the_best_weights_may_be_those_of_a_measurement_on_the_way(tmp_path: Path) -> None:
    early = EarlyStopping("val/loss")
    save = SaveCheckpoints(tmp_path, watched=[early], best=early, every_steps=1, keep=20)
    settings: dict[str, Any] = {"lr": 4.0, "optimizer": "sgd", "eval_every": 1}
    state = toy_fit(toy_net(), toy_data(), callbacks=[early, save], **settings)
    losses = state.history.series("val/loss")
    best = min(range(len(losses)), key=losses.__getitem__) + 1
    assert best % 5, "the best is at the end of a pass: the test shows nothing"
    assert (early.best_step, early.best_epoch) == (best, best // 5)
    assert read_json(tmp_path / "best.json")["checkpoint"] == f"step-{best:06d}"
    val = toy_data().val
    assert val is not None
    assert measure_quickly(state.model, val, state.task)["loss"] == losses[best - 1]


def test_patience_counts_measurements() -> None:
    early = EarlyStopping("val/loss", patience=3, min_delta=100)
    state = toy_fit(toy_net(), toy_data(), eval_every=2, callbacks=[early])
    assert state.step == 6  # after the first at step 2 those at 4, 5 and 6
    assert state.stop_reason == "no improvement of val/loss for 3 measurements"


def test_a_measure_of_training_is_taken_after_passes_only() -> None:
    early = EarlyStopping("train/loss", patience=1, min_delta=100)
    state = toy_fit(toy_net(), toy_data(), eval_every=1, callbacks=[early])
    assert (state.epoch, state.stop_reason) == (2, "no improvement of train/loss for 1 epochs")


@pytest.mark.parametrize(("monitor", "looks"), [("val/loss", 9), ("train/loss", 3)])
def test_a_schedule_that_looks_sees_each_of_them(
    monitor: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    monkeypatch.setattr(PlateauRates, "see", lambda self, value: seen.append(value))
    state = toy_fit(toy_net(), toy_data(), schedule="plateau", monitor=monitor, eval_every=2)
    assert seen == state.history.series(monitor)
    assert len(seen) == looks


def test_the_time_that_they_take_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    def measure(*given: Any, **settings: Any) -> dict[str, float]:
        now[0] += 4.0
        return {"loss": 0.5, "accuracy": 0.5}

    state = toy_fit(toy_net(), toy_data(), epochs=1)
    state.epochs = 2  # it is not whole yet
    monkeypatch.setattr("netwright.train.measuring.measure_quickly", measure)
    monkeypatch.setattr("netwright.train.measuring.time.monotonic", lambda: now[0])
    before = state.measuring_seconds
    assert before > 0
    measuring = Measuring(TrainConfig(), toy_data().val, None)
    state.step += 1
    measuring.on_the_way(state)
    measuring.on_the_way(state)
    assert state.measuring_seconds - before == pytest.approx(8)


def test_validation_data_is_read_by_as_many_workers_as_training_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def measure(*args: Any, workers: int = 0, **others: Any) -> dict[str, float]:
        asked.append(workers)
        return {"loss": 1.0}

    monkeypatch.setattr("netwright.train.measuring.measure_quickly", measure)
    toy_fit(toy_net(), toy_data(), epochs=2, workers=1)
    assert asked == [1, 1]
