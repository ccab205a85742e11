"""Early stopping: the catalogue's curves by hand, the best weights kept, and what is refused."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping, is_lower_better
from netwright.train.evaluate import measure_quickly
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.watching.history import Row
from tests.repetition import for_each
from tests.train.toy_runs import (
    Curve,
    Ramp,
    assert_same,
    copy_of,
    curve_fit,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
)


class LastWeights(Callback):
    """Keeps the weights as they are before the best ones are put back."""

    weights: dict[str, Tensor]

    def on_fit_end(self, state: TrainState) -> None:
        self.weights = copy_of(state.model)


def reached(state: TrainState) -> int:
    """The number of updates whose weights the model has."""
    return int(state.model.state_dict()["weight"])


@pytest.mark.covers("early-stopping")
def test_stops_when_patience_is_over_and_goes_back_to_the_best_weights() -> None:
    early = EarlyStopping(patience=2)
    state = curve_fit([5, 4, 3, 4, 5, 6], early)
    assert state.epoch - 1 == 4  # epoch index 4 was the last
    assert reached(state) - 1 == 2  # the weights of epoch index 2 are back
    assert (early.best, early.best_epoch, early.best_step) == (3, 3, 3)
    assert state.stop_reason == "no improvement of val/loss for 2 epochs"
    overfit_and_restore()


def overfit_and_restore() -> None:
    """A wide MLP that learns its few noisy rows by heart; the test rows show it."""
    data = toy_data(rows=30, val=200, test=400)
    noisy = torch.randint(0, 3, (30,), generator=torch.Generator().manual_seed(1))
    keep = torch.rand(30, generator=torch.Generator().manual_seed(2)) < 0.6
    targets = torch.where(keep, data.train.targets, noisy)
    data = replace(data, train=replace(data.train, targets=targets))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 3))
    last = LastWeights()
    settings: dict[str, Any] = {"epochs": 40, "lr": 0.03, "batch_size": 10}
    state = toy_fit(model, data, callbacks=[EarlyStopping(), last], **settings)
    test = data.split("test")
    restored = measure_quickly(model, test, task_for(data))["loss"]
    assert state.history.latest("train/loss") < 0.5 * state.history.series("train/loss")[0]
    model.load_state_dict(last.weights)
    assert restored < measure_quickly(model, test, task_for(data))["loss"]


@pytest.mark.covers("patience")
def test_patience_counts_from_the_best_so_far_not_from_the_epoch_before() -> None:
    curve = [5, 3, 4, 3.9, 3.8, 3.7]
    state = curve_fit([*curve, 1, 1], EarlyStopping(patience=4))
    assert state.epoch == 6
    assert reached(state) == 2
    worse = [later >= earlier for earlier, later in pairwise(curve)]
    assert sum(worse) == 1  # comparing with the epoch before would never count to 2


@for_each(
    ("curve", "patience", "epochs", "best"),
    [
        ([1, 2, 3], None, 3, 1),  # never stops, still the best is kept
        ([3, 2, 1], 1, 3, 3),  # the last may be the best
        ([3, 4, 1, 2, 2, 2], 2, 5, 3),  # the count begins anew after an improvement
        ([2, 2, 2, 2], 2, 3, 1),  # the same is not better
        ([3, 4, 1], 1, 2, 1),
        ([3, 4, 1], 0, 2, 1),
    ],
)
def test_patience_by_hand(curve: list[float], patience: Any, epochs: int, best: int) -> None:
    state = curve_fit(curve, EarlyStopping(patience=patience))
    assert (state.epoch, reached(state)) == (epochs, best)


def test_an_improvement_has_to_be_larger_than_min_delta() -> None:
    curve = [4, 3.5, 3.1, 2.9, 2.7, 2.61]
    assert reached(curve_fit(curve, EarlyStopping(min_delta=0.5))) == 3  # 4 -> 3.1, then no 2.6
    state = curve_fit([4, 3.5, 3.5, 3.5], EarlyStopping(min_delta=0.5, patience=2))
    assert (state.epoch, reached(state)) == (3, 1)  # better by 0.5 is not by more than 0.5
    assert reached(curve_fit(curve, EarlyStopping(min_delta=0.0))) == 6


def test_higher_is_better_for_accuracy() -> None:
    early = EarlyStopping("val/accuracy", patience=2)
    state = curve_fit([0.1, 0.5, 0.4, 0.3, 0.9], early)
    assert (state.epoch, reached(state)) == (4, 2)
    assert state.stop_reason == "no improvement of val/accuracy for 2 epochs"


@for_each(
    ("monitor", "lower"),
    [
        ("val/loss", True),
        ("train/loss", True),
        ("val/rmse", True),
        ("val/log_loss", True),
        ("val/accuracy", False),
        ("val/r2", False),
    ],
)
def test_losses_and_errors_are_to_fall(monitor: str, lower: bool) -> None:
    assert is_lower_better(monitor) is lower


def test_the_best_weights_are_a_copy_with_all_buffers() -> None:
    early = EarlyStopping(restore_best=False)
    model = toy_net(batch_norm=True)
    kept: list[dict[str, Tensor]] = []

    class Keep(Callback):
        def on_epoch_end(self, state: TrainState) -> None:
            kept.append(copy_of(state.model))

    toy_fit(model, toy_data(), lr=0.05, callbacks=[early, Keep()])
    assert_same(early.weights, kept[early.best_epoch - 1])
    assert_same(copy_of(model), kept[-1])  # nothing was put back
    early.restore_best = True
    state = toy_fit(model, toy_data(), lr=0.5, epochs=9, callbacks=[early])
    assert_same(copy_of(model), early.weights)
    assert early.best == min(state.history.series("val/loss"))


def test_one_trainer_can_fit_several_models() -> None:
    early = EarlyStopping()
    assert reached(curve_fit([1, 2], early)) == 1
    state = curve_fit([9, 8, 7], early)
    assert (reached(state), early.best, early.best_epoch) == (3, 7, 3)


def test_stopped_by_patience_it_stays_stopped_after_going_on(tmp_path: Path) -> None:
    early = EarlyStopping(patience=2)

    class Save(Callback):
        def on_epoch_end(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / str(state.epoch), state, [early])

    curve = [5, 4, 3, 4, 5, 1]
    state = curve_fit(curve, early, Save())
    for epoch in range(1, 6):
        again, data = EarlyStopping(patience=2), toy_data(rows=4)
        settings: dict[str, Any] = {"optimizer": "sgd", "lr": 1.0, "epochs": 6}
        trainer = toy_trainer(data, callbacks=[again], task=Curve(curve), **settings)
        resumed = trainer.start(Ramp(), data)
        load_checkpoint(tmp_path / str(epoch), resumed, [again], allow=["epochs"])
        trainer.fit(resumed, data)
        assert (resumed.epoch, reached(resumed)) == (state.epoch, reached(state)) == (5, 3)
        assert resumed.stop_reason == state.stop_reason
        assert_same(again.state_dict(), early.state_dict())


def test_a_new_one_can_be_saved_and_restored() -> None:
    fresh, other = EarlyStopping(), EarlyStopping()
    other.load_state_dict(fresh.state_dict())
    assert other.best == float("inf")


def test_values_by_step_are_lower_the_better_and_of_whole_passes() -> None:
    state = curve_fit([3, 1, 2])
    assert EarlyStopping().values_by_step(state) == {1: 3, 2: 1, 3: 2}
    assert EarlyStopping("val/accuracy").values_by_step(state) == {1: -3, 2: -1, 3: -2}
    state.unfinished_rows = 2  # loss and accuracy of the last
    assert EarlyStopping().values_by_step(state) == {1: 3, 2: 1}


class ReadFromTheEnd(list[Row]):
    """Rows that refuse to be gone over from the first: in each epoch that takes longer."""

    def __iter__(self) -> Iterator[Row]:
        raise AssertionError("all rows of the run were gone over")


def test_a_look_after_an_epoch_does_not_take_longer_the_longer_the_run() -> None:
    early, state = EarlyStopping(), curve_fit([3, 1])
    state.history.rows = ReadFromTheEnd(state.history.rows)
    early.on_epoch_end(state)
    assert early.best == 1


def test_a_measure_that_is_not_taken_is_refused_with_those_that_are() -> None:
    sentence = (
        "monitor 'val/rmse' is not measured; there are "
        "train/loss, train/accuracy, val/loss, val/accuracy"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        toy_fit(toy_net(), toy_data(), callbacks=[EarlyStopping("val/rmse")])


def test_an_unknown_measure_is_refused_with_the_nearest() -> None:
    sentence = "unknown metric 'acuracy'; did you mean 'accuracy'?"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        EarlyStopping("val/acuracy")


def test_what_is_measured_on_the_way_counts_where_it_is_what_is_watched() -> None:
    early, state = EarlyStopping(patience=2), toy_start()
    early.on_evaluation(state)
    state.step = 3
    state.record("val", {"accuracy": 0.5})  # of another measure nothing follows
    early.on_evaluation(state)
    assert not early.weights
    for step, loss in ((4, 0.5), (5, 0.25), (6, 0.75), (7, 0.5)):
        state.step = step
        state.record("val", {"loss": loss})
        assert not state.stop_reason
        early.on_evaluation(state)
    assert (early.best, early.best_step) == (0.25, 5)
    assert state.stop_reason == "no improvement of val/loss for 2 measurements"
