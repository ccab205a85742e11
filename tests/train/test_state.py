"""A run at one moment: its clock, its learning rate, and the rows that it records."""

import re
import time
from typing import Any

import pytest
import torch

from netwright.core.errors import RunError
from netwright.core.seeding import random_state, seeded
from netwright.core.trees import map_tensors
from netwright.train.state import COUNTERS, OF_EACH_RANK, PLACE, TrainState
from tests.train.toy_runs import assert_same, toy_data, toy_net, toy_start, toy_trainer

NAN, INFINITY = float("nan"), float("inf")


def test_recorded_rows_carry_every_axis() -> None:
    state = toy_start()
    state.step, state.epoch, state.samples = 12, 3, 96
    state.elapsed_before = 100.0
    state.record("val", {"loss": 0.5, "accuracy": 0.75})
    first, second = state.history
    assert (first.step, first.epoch, first.samples, first.split) == (12, 3, 96, "val")
    assert (first.name, first.value) == ("loss", 0.5)
    assert (second.name, second.value) == ("accuracy", 0.75)
    assert first.time == second.time
    assert 100 <= first.time < 200


@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY])
def test_a_number_that_is_not_finite_ends_the_run_before_it_is_kept(value: float) -> None:
    state = toy_start(lr=0.25)
    state.step, state.epoch = 7, 2
    sentence = (
        f"val/loss is {value} after step 7, epoch 2; "
        "the learning rate is 0.25, a smaller one often helps"
    )
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        state.record("val", {"loss": value})
    assert len(state.history) == 0


def test_time_goes_on_where_an_earlier_process_stopped() -> None:
    state = toy_start()
    before = state.elapsed
    time.sleep(0.01)
    assert state.elapsed >= before + 0.01
    state.elapsed_before = 50.0
    assert 50 < state.elapsed < 650


def test_time_of_compiling_is_no_training() -> None:
    state = toy_start()
    state.elapsed_before, state.compile_seconds = 50.0, 20.0
    assert 30 < state.elapsed < 40


def test_learning_rate_is_that_of_the_next_step() -> None:
    state = toy_start(lr=0.5, schedule="linear", optimizer="sgd")  # 15 steps in all
    assert state.lr == 0.5
    state.optimizer.step()
    state.schedule.step()
    assert state.lr == pytest.approx(0.5 * 14 / 15)


def test_a_new_run_stands_at_its_beginning() -> None:
    state = toy_start(epochs=3, batch_size=8, accumulate=2)  # 20 rows are 3 batches, 2 updates
    assert (state.epoch, state.position, state.step, state.samples, state.running.rows) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert (state.epochs, state.steps_per_epoch, state.stop_reason) == (3, 2, "")
    assert (state.accumulated, state.gradients, state.passed_over) == (0, {}, [])
    assert not (state.is_updating or state.skips_update or state.goes_back)
    assert len(state.history) == 0


def test_weights_without_a_gradient_have_no_part_in_an_update() -> None:
    state = toy_start()
    first, *rest = state.learned_weights()
    first.grad = torch.ones_like(first)
    assert [grad is first.grad for grad in state.whole_gradients()] == [True]
    assert len(rest) == 3


def test_gradients_are_forgotten_by_the_optimizer_that_forgets_them_in_its_own_way() -> None:
    class Counting(torch.optim.SGD):
        forgot = 0

        def zero_grad(self, set_to_none: bool = True) -> None:
            self.forgot += 1
            super().zero_grad(set_to_none)

    state = toy_start()
    for optimizer in (state.optimizer, own := Counting(state.model.parameters(), lr=0.1)):
        state.optimizer = optimizer
        for weight in state.learned_weights():
            weight.grad = torch.ones_like(weight)
        state.forget_gradients()
        assert all(weight.grad is None for weight in state.model.parameters())
    assert own.forgot == 1


@pytest.mark.parametrize("name", ["adam", "sgd", "adamw"])
def test_torchs_optimizers_forget_without_a_mark_for_a_profiler(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked: list[str] = []
    monkeypatch.setattr(torch.autograd.profiler, "record_function", marked.append)
    state = toy_start(optimizer=name)
    state.forget_gradients()
    assert marked == []


def test_buffers_are_the_models_and_those_of_its_average_wherever_they_are() -> None:
    state = toy_start(toy_net(batch_norm=True), average="exponential")
    assert state.average is not None
    state.average.add(1)
    own = list(state.model.buffers())
    assert len(own) == 3  # mean, variance, and a count that has no average
    assert len(state.buffers()) == 5
    with state.averaged():
        assert len(state.buffers()) == 7
    assert all(one is other for one, other in zip(state.buffers(), own, strict=False))


def test_updates_are_counted_over_all_epochs_or_up_to_the_last_step() -> None:
    by_epochs = toy_start(epochs=3, batch_size=8, accumulate=2)
    assert (by_epochs.all_updates, by_epochs.is_whole) == (6, False)
    by_epochs.epoch = 3
    assert by_epochs.is_whole
    by_steps = toy_start(epochs=None, max_steps=7, batch_size=8)
    assert (by_steps.all_updates, by_steps.is_whole) == (7, False)
    by_steps.step, by_steps.epoch = 6, 99
    assert not by_steps.is_whole
    by_steps.step = 7
    assert by_steps.is_whole


def test_training_goes_on_with_its_own_weights_also_while_the_model_holds_their_average() -> None:
    state = toy_start(average="exponential")
    assert state.average is not None
    state.average.add(1)
    own = {name: tensor.clone() for name, tensor in state.model.state_dict().items()}
    with torch.no_grad():
        for weight in state.learned_weights():
            weight.add_(1)
    moved = {name: tensor.clone() for name, tensor in state.training_weights().items()}
    assert all(not torch.equal(moved[name], own[name]) for name in own)
    with state.averaged():
        held = state.model.state_dict()
        assert any(not torch.equal(held[name], moved[name]) for name in own)
        there = state.training_weights()
        assert list(there) == list(own)
        assert all(torch.equal(there[name], moved[name]) for name in own)
    assert toy_start().training_weights().keys() == own.keys()


def test_only_what_was_measured_after_this_update_is_measured_now() -> None:
    state = toy_start()
    assert state.measured_now("val/loss") is None
    state.step = 1
    state.record("val", {"loss": 0.5, "accuracy": 0.75})
    assert (state.measured_now("val/loss"), state.measured_now("val/accuracy")) == (0.5, 0.75)
    assert state.measured_now("train/loss") is None
    state.step = 2
    assert state.measured_now("val/loss") is None


def test_a_run_that_is_cut_short_says_so() -> None:
    state = toy_start()
    assert not state.is_cut_short
    state.cut_short("enough")
    assert (state.stop_reason, state.is_cut_short) == ("enough", True)


def moved(state: TrainState) -> dict[str, Any]:
    """All that a run is, as it stands now, beside its clock."""
    kept = map_tensors(lambda tensor: tensor.detach().clone(), state.state_dict())
    return {name: part for name, part in kept.items() if name != "elapsed"}


def test_a_state_is_taken_back_whole() -> None:
    settings: dict[str, Any] = {"average": "exponential", "accumulate": 2, "epochs": 2}
    data = toy_data()
    trainer = toy_trainer(data, **settings)
    first = trainer.start(toy_net(batch_norm=True, dropout=0.3), data)
    trainer.fit(first, data)
    first.passed_over = [(0, 1)]
    with seeded(5):
        wanted = moved(first)
    second = toy_trainer(data, **settings).start(toy_net(batch_norm=True, dropout=0.3), data)
    second.load_state_dict(wanted)
    with seeded(0):
        second.take_up()
        assert_same(moved(second), wanted)
    assert wanted["step"] > 0
    assert wanted["average"]["count"] > 0


def test_parts_that_are_not_given_stay_as_they_are() -> None:
    state = toy_start()
    state.step, state.passed_over = 7, [(1, 2)]
    before = moved(state)
    state.load_state_dict({"epoch": 3, "elapsed": 12.0, "scaler": None})
    assert 12 < state.elapsed < 600
    now = moved(state)
    assert (now.pop("epoch"), before.pop("epoch")) == (3, 0)
    assert_same({**now, "random": None}, {**before, "random": None})


def test_generators_and_gradients_that_were_loaded_wait_until_training_goes_on() -> None:
    state = toy_start()
    with seeded(1):
        saved = random_state()
        wanted = torch.rand(3)
    weights = dict(state.model.named_parameters())
    gradients = {name: torch.ones_like(weight) for name, weight in weights.items()}
    with seeded(2):
        state.load_state_dict({"random": saved, "gradients": gradients})
        torch.rand(1)
        assert all(weight.grad is None for weight in weights.values())
        state.take_up()
        assert torch.equal(torch.rand(3), wanted)
    for name, weight in weights.items():
        assert_same(weight.grad, gradients[name])
    assert (state.random, state.gradients) == (None, {})


def test_every_part_that_a_rank_has_for_itself_and_every_place_is_part_of_a_state() -> None:
    assert {*COUNTERS, *OF_EACH_RANK, *PLACE} <= toy_start().state_dict().keys()
