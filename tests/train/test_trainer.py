"""The loop: what one writes by hand bit for bit, in order, reproducible, stopped for a reason."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.outputs import Output
from netwright.core.seeding import derive_seed, random_state
from netwright.data.dataset import Data
from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.evaluate import measure_quickly
from netwright.train.ranks import Ranks
from netwright.train.saving.snapshot import Snapshot
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.regression import Regression
from netwright.train.trainer import Trainer
from tests.repetition import for_each
from tests.train.toy_runs import (
    SHORT,
    assert_close,
    assert_same,
    copy_of,
    doubled,
    repeated,
    toy_data,
    toy_fit,
    toy_net,
    toy_trainer,
    weighed,
)

Make = Callable[[Any], torch.optim.Optimizer]


class StopAt(Callback):
    """Asks to stop after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            state.stop_reason = "that will do"


def train_by_hand(model: nn.Module, data: Data, optimizer: torch.optim.Optimizer) -> list[float]:
    """Three epochs of batches of 8, as one writes them; gives the train loss of each."""
    losses = []
    torch.manual_seed(derive_seed(5, "train"))
    model.train()
    for epoch in range(3):
        generator = torch.Generator().manual_seed(derive_seed(5, "order", epoch))
        order, total = torch.randperm(len(data.train), generator=generator), 0.0
        for rows in order.split(8):  # type: ignore[no-untyped-call]
            loss = F.cross_entropy(model(data.train.inputs[rows]), data.train.targets[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += loss.item() * len(rows)
        losses.append(total / len(order))
    return losses


@for_each(
    ("settings", "make"),
    [
        ({"optimizer": "sgd", "lr": 0.2}, lambda p: torch.optim.SGD(p, lr=0.2, fused=True)),
        (
            {"optimizer": "momentum", "lr": 0.1, "kernel": "foreach"},
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
        ),
        (
            {"optimizer": "adam", "lr": 0.01, "kernel": "foreach"},
            lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
        ),
        (
            {"optimizer": "adam", "lr": 0.01, "kernel": "fused"},
            lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
        ),
        (
            {"optimizer": "adamw", "lr": 0.01, "weight_decay": 0.1},
            lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1, fused=True),
        ),
    ],
)
def test_equals_a_loop_written_by_hand_bit_for_bit(settings: dict[str, Any], make: Make) -> None:
    data = toy_data(rows=30)  # batches of 8, 8, 8 and 6
    ours, by_hand = (toy_net(batch_norm=True, dropout=0.3) for _ in range(2))
    with torch.random.fork_rng(devices=[]):
        losses = train_by_hand(by_hand, data, make(by_hand.parameters()))
    state = toy_fit(ours, data, batch_size=8, seed=5, **settings)
    assert_same(copy_of(ours), copy_of(by_hand))
    assert state.history.series("train/loss") == pytest.approx(losses, rel=1e-6)
    assert state.step == 12


def test_history_has_train_and_validation_side_by_side_at_every_epoch() -> None:
    state = toy_fit(toy_net(), toy_data(rows=10), batch_size=4)
    names = [("train", "loss"), ("train", "accuracy"), ("val", "loss"), ("val", "accuracy")]
    assert [(row.split, row.name) for row in state.history] == names * 3
    counts = [(row.epoch, row.step, row.samples) for row in state.history]
    assert counts == [(1, 3, 10)] * 4 + [(2, 6, 20)] * 4 + [(3, 9, 30)] * 4
    times = [row.time for row in state.history]
    assert times == sorted(times)
    assert state.history.keys() == ["train/loss", "train/accuracy", "val/loss", "val/accuracy"]


def test_without_validation_data_only_training_is_measured() -> None:
    state = toy_fit(toy_net(), toy_data(val=0))
    assert state.history.keys() == ["train/loss", "train/accuracy"]


@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_running_measures_are_those_of_weights_that_do_not_move(target: Any) -> None:
    data = toy_data(target, rows=11)
    data = replace(data, train=weighed(data.train, [1, 2, 0, 3, 1, 1, 5, 1, 0.5, 1, 2]))
    model = toy_net()
    state = toy_fit(model, data, optimizer="sgd", lr=1e-30, epochs=2)
    direct = measure_quickly(model, data.train, task_for(data))
    for name, value in direct.items():
        assert state.history.series(f"train/{name}") == pytest.approx([value] * 2, rel=1e-5)


def test_validation_is_that_of_the_weights_after_the_epoch() -> None:
    data, model = toy_data(), toy_net(dropout=0.5, batch_norm=True)
    state = toy_fit(model, data, epochs=2)
    assert data.val is not None
    measured = measure_quickly(model, data.val, task_for(data))
    assert state.history.latest("val/loss") == measured["loss"]
    assert state.history.latest("val/accuracy") == measured["accuracy"]


def test_generators_of_the_caller_are_left_as_they_were() -> None:
    random.seed(1)
    np.random.seed(2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        before = random_state()
        toy_fit(toy_net(dropout=0.5), toy_data())
        assert_same(random_state(), before)


def test_dropout_and_order_follow_from_the_seed_alone() -> None:
    def trained(seed: int) -> dict[str, Tensor]:
        torch.rand(seed + 1)  # the caller's generator stands elsewhere each time
        model = toy_net(dropout=0.5)
        toy_fit(model, toy_data(), seed=seed)
        return copy_of(model)

    assert_same(trained(1), trained(1))
    assert not torch.equal(trained(1)["0.weight"], trained(2)["0.weight"])


def test_user_modules_and_those_that_return_an_output_train() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = toy_net()

        def forward(self, x: Tensor) -> Tensor:
            logits: Tensor = self.inner(x)
            return logits

    class WithOutput(Own):
        def forward(self, x: Tensor) -> Output:  # type: ignore[override]
            return Output(logits=self.inner(x), aux=(x,))

    plain, output = Own(), WithOutput()
    first = toy_fit(plain, toy_data(), lr=0.05, epochs=5).history
    toy_fit(output, toy_data(), lr=0.05, epochs=5)
    assert first.latest("train/loss") < first.series("train/loss")[0]
    assert_same(copy_of(output), copy_of(plain))


def test_gradients_that_the_caller_left_are_not_used() -> None:
    clean, dirty = toy_net(), toy_net()
    for parameter in dirty.parameters():
        parameter.grad = torch.full_like(parameter, torch.nan)
    toy_fit(clean, toy_data())
    toy_fit(dirty, toy_data())
    assert_same(copy_of(dirty), copy_of(clean))


def test_a_model_that_was_evaluated_before_is_put_to_training() -> None:
    fresh, used = (toy_net(dropout=0.5, batch_norm=True) for _ in range(2))
    toy_fit(fresh, toy_data())
    toy_fit(used.eval(), toy_data())
    assert_same(copy_of(used), copy_of(fresh))


def test_learning_rate_follows_the_schedule_step_by_step() -> None:
    rates: list[float] = []

    class Watch(Callback):
        def on_before_update(self, state: TrainState) -> None:
            rates.append(state.lr)

    settings = {"optimizer": "sgd", "lr": 1.0, "epochs": 2, "batch_size": 5}
    state = toy_fit(toy_net(), toy_data(), schedule="linear", callbacks=[Watch()], **settings)
    assert rates == pytest.approx([1 - step / 8 for step in range(8)])  # 2 epochs of 4 steps
    assert state.lr == 0
    rates.clear()
    toy_fit(toy_net(), toy_data(), schedule="cosine", warmup=4, callbacks=[Watch()], **settings)
    falling = [(1 + np.cos(np.pi * step / 4)) / 2 for step in range(4)]
    assert rates == pytest.approx([0.25, 0.5, 0.75, 1.0, *falling])


@pytest.mark.covers("training-loop")
def test_steps_come_in_order_until_the_cap_or_until_the_loss_hardly_changes() -> None:
    log: list[str] = []

    class Logged(Classification):
        def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
            log.append("loss")
            return super().loss(output, batch)

    class Updates(Callback):
        def on_step_end(self, state: TrainState) -> None:
            log.append(f"step {state.step}")

    model = toy_net()
    model.register_forward_pre_hook(lambda *_: log.append("batch"))
    model.register_forward_hook(lambda *_: log.append("forward"))
    weight = next(model.parameters())
    weight.register_hook(lambda _: log.append("backward"))  # type: ignore[no-untyped-call]
    data = toy_data(val=0)
    trainer = toy_trainer(data, task=Logged(3), callbacks=[Updates()], epochs=2, batch_size=10)
    state = trainer.start(model, data)
    state.optimizer.register_step_post_hook(lambda *_: log.append("update"))
    trainer.fit(state, data)
    one = ["batch", "forward", "loss", "backward", "update"]
    assert log == [entry for step in range(1, 5) for entry in (*one, f"step {step}")]
    assert (state.epoch, state.stop_reason) == (2, "")
    watch = EarlyStopping("train/loss", patience=1, min_delta=0.05)
    state = toy_fit(toy_net(), data, lr=0.02, epochs=500, callbacks=[watch])
    *_, before, last = state.history.series("train/loss")
    assert before - last <= 0.05
    assert state.epoch < 500
    assert state.stop_reason == "no improvement of train/loss for 1 epochs"


def test_stops_in_the_middle_of_an_epoch_when_a_callback_says_so() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StopAt(7)])  # 5 steps an epoch
    assert (state.epoch, state.position, state.step, state.samples) == (1, 2, 7, 28)
    assert state.stop_reason == "that will do"
    assert len(state.history) == 4


def test_stopping_at_the_last_batch_ends_the_epoch_as_usual() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StopAt(5)])
    assert (state.epoch, state.position, state.step) == (1, 0, 5)
    assert len(state.history) == 4


def test_stopped_in_the_first_epoch_there_is_something_to_show() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StopAt(2)])
    assert [(row.epoch, row.samples) for row in state.history] == [(0, 8)] * 4
    assert state.unfinished_rows == 4
    assert state.running.rows == 8  # the pass can go on


def test_of_an_unfinished_pass_only_what_was_measured_at_its_end_is_not_saved() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StepRows(1), StopAt(2)])
    by_step = [row for row in state.history if row.split == "step"]
    assert len(by_step) == len(state.history) - 4
    assert state.history.rows[: -state.unfinished_rows] == by_step


@pytest.mark.parametrize("event", ["on_fit_start", "on_step_end", "on_epoch_end"])
def test_an_error_reaches_the_caller_after_every_callback_was_told(event: str) -> None:
    told: list[str] = []

    def fail(self: Callback, state: TrainState) -> None:
        raise KeyError("mine")

    class Told(Callback):
        def on_abort(self, state: TrainState) -> None:
            told.append("abort")

        def on_fit_end(self, state: TrainState) -> None:
            told.append("end")

    failing = type("Failing", (Callback,), {event: fail})()
    with pytest.raises(KeyError, match="mine"):
        toy_fit(toy_net(), toy_data(), callbacks=[Told(), failing])
    assert told == ["abort"]


def test_the_last_callback_is_the_first_to_hear_of_the_end() -> None:
    told: list[int] = []

    class Numbered(Callback):
        def __init__(self, number: int) -> None:
            self.number = number

        def on_fit_start(self, state: TrainState) -> None:
            told.append(self.number)

        def on_fit_end(self, state: TrainState) -> None:
            told.append(self.number)

    toy_fit(toy_net(), toy_data(), callbacks=[Numbered(1), Numbered(2)])
    assert told == [1, 2, 2, 1]


@pytest.mark.covers("sgd-b1")
def test_one_batch_of_all_rows_is_gradient_descent_and_batches_of_one_are_a_step_a_row() -> None:
    data = doubled(toy_data("real", rows=9, val=0))
    ours, by_hand = toy_net().double(), toy_net().double()
    task = Regression.plain(3)
    settings = {"optimizer": "sgd", "lr": 0.3, "epochs": 1, "task": task}
    assert toy_fit(ours, data, batch_size=9, **settings).step == 1
    F.mse_loss(by_hand(data.train.inputs), data.train.targets).backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for weight in by_hand.parameters():
            assert weight.grad is not None
            weight.sub_(0.3 * weight.grad)
    assert_close(ours, by_hand, 1e-12)
    assert toy_fit(ours, data, batch_size=1, **settings).step == 9


@for_each(
    ("target", "balanced"), [("class", False), ("class", True), ("labels", False), ("real", False)]
)
def test_a_weight_of_two_is_the_row_twice(target: Any, balanced: bool) -> None:
    times = [2, 1, 0, 3, 1, 1, 2, 1, 1, 1]
    data = doubled(toy_data(target, rows=10, val=0))
    heavy = replace(data, train=weighed(data.train, [7.0 * count for count in times]))
    often = replace(data, train=repeated(data.train, times))
    models = [toy_net().double(), toy_net().double()]
    for model, given in zip(models, (heavy, often), strict=True):
        task = task_for(given, TrainConfig(class_weight="balanced" if balanced else None))
        size = len(given.train)
        toy_fit(model, given, optimizer="sgd", lr=0.5, epochs=6, batch_size=size, task=task)
    assert_close(models[0], models[1], 1e-6 if target == "real" else 1e-7)
    assert not torch.equal(copy_of(models[0])["0.weight"], copy_of(toy_net().double())["0.weight"])


class Asked(Ranks):
    """A group in which somebody else is asked to stop before the third agreement."""

    asked = 0

    def any(self, flag: bool, work: str = "") -> bool:
        Asked.asked += 1
        return flag or Asked.asked == 3


def test_one_ranks_reason_to_stop_is_every_ranks_at_the_next_update() -> None:
    data = toy_data()
    trainer = Trainer(TrainConfig(**SHORT), task_for(data), ranks=Asked())
    state = trainer.start(toy_net(), data)
    trainer.fit(state, data)
    assert (state.step, state.epoch) == (3, 0)  # of 5 in an epoch
    assert state.stop_reason == "another process received a stop signal"
    assert state.is_cut_short


class Rows(Callback):
    """Notes which rows come, in order."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def on_batch_start(self, state: TrainState) -> None:
        assert state.batch is not None
        self.seen += state.batch.rows.tolist()


@pytest.mark.parametrize("to_optimum", [False, True])
def test_rows_come_in_their_own_order_where_an_optimum_is_looked_for(to_optimum: bool) -> None:
    data, rows = toy_data(), Rows()
    config = TrainConfig(**{**SHORT, "epochs": 1})
    trainer = Trainer(config, task_for(data), callbacks=[rows], to_optimum=to_optimum)
    trainer.fit(trainer.start(toy_net(), data), data)
    assert sorted(rows.seen) == list(range(20))
    assert (rows.seen == list(range(20))) == to_optimum


def test_what_follows_from_the_number_of_rows_is_settled_at_the_start() -> None:
    data = toy_data(rows=70)
    state = toy_trainer(data, optimizer="svrg", batch_size=None).start(toy_net(), data)
    assert state.conditions()["batch_size"] == 32  # a checkpoint goes on with the same
    assert state.optimizer.param_groups[0]["period"] == 3  # a snapshot an epoch


class GoBack(Callback):
    """Sets a run back to its beginning, once, after its third batch."""

    went_back = False

    def on_epoch_start(self, state: TrainState) -> None:
        self.start = Snapshot.of(state, [])

    def on_batch_end(self, state: TrainState) -> None:
        if state.position == 3 and not self.went_back:
            self.start.restore(state, [])
            self.went_back = state.goes_back = True


def test_a_run_that_is_set_back_takes_the_same_way_again() -> None:
    plain, again = toy_net(dropout=0.4), toy_net(dropout=0.4)
    straight, twice = Rows(), Rows()
    toy_fit(plain, toy_data(), epochs=1, callbacks=[straight])
    state = toy_fit(again, toy_data(), epochs=1, callbacks=[twice, GoBack()])
    assert twice.seen == straight.seen[:12] + straight.seen
    assert (state.step, state.samples, state.goes_back) == (5, 20, False)
    assert_same(copy_of(again), copy_of(plain))


def test_labels_are_measured_as_they_were_before_their_noise() -> None:
    data, model = toy_data(), toy_net()
    state = toy_fit(model, data, optimizer="sgd", lr=1e-30, epochs=1, label_noise=0.9)
    right = measure_quickly(model, data.train, task_for(data))["accuracy"]
    assert state.history.latest("train/accuracy") == pytest.approx(right)


@pytest.mark.parametrize("channels_last", [True, False])
def test_kernels_lie_in_memory_as_asked_for(channels_last: bool) -> None:
    kernels = nn.Conv2d(3, 3, 2, padding=1)
    model = nn.Sequential(nn.Unflatten(1, (3, 1, 1)), kernels, nn.Flatten())
    toy_trainer(toy_data(), channels_last=channels_last).start(model, toy_data())
    assert kernels.weight.is_contiguous(memory_format=torch.channels_last) == channels_last


@pytest.mark.parametrize("average", ["none", "exponential"])
def test_on_the_way_it_is_measured_and_told_with_the_weights_that_are_kept(average: str) -> None:
    class Look(Callback):
        def on_evaluation(self, state: TrainState) -> None:
            assert data.val is not None
            told.append((state.step, measure_quickly(state.model, data.val, state.task)["loss"]))

    told, data = list[tuple[int, float]](), toy_data()
    settings: dict[str, Any] = {"average": average, "average_decay": 0.5, "eval_every": 2}
    state = toy_fit(toy_net(), data, epochs=1, callbacks=[Look()], **settings)
    measured = [(row.step, row.value) for row in state.history if row.key == "val/loss"]
    assert [step for step, _ in measured] == [2, 4, 5]
    assert told == measured[:2]
