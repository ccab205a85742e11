"""One update: accumulation, closures and float16 leave exactly the weights that they should."""

import copy
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError, RunError
from netwright.core.outputs import Output
from netwright.core.seeding import seeded
from netwright.data.dataset import Data
from netwright.data.loading.loader import BatchLoader
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.evaluate import measure_quickly
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.settings import Pace, TrainConfig, pace_for
from netwright.train.state import TrainState
from netwright.train.step import heads_of, with_noise
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.regression import Regression
from tests.repetition import for_each
from tests.train.token_data import small_lstm, tagged_data
from tests.train.toy_runs import (
    assert_close,
    assert_same,
    copy_of,
    doubled,
    toy_data,
    toy_fit,
    toy_net,
    toy_trainer,
    weighed,
    whole_batch,
)


def gradients_of(model: nn.Module) -> Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


class Count(Callback):
    """Counts the events of an update."""

    def __init__(self) -> None:
        self.before = self.after = 0

    def on_before_update(self, state: TrainState) -> None:
        self.before += 1

    def on_step_end(self, state: TrainState) -> None:
        self.after += 1


class Overflow(Callback):
    """Makes the gradients of some updates infinite, and checks that nothing moves then."""

    def __init__(self, attempts: set[int]) -> None:
        self.attempts, self.attempt, self.skipped = attempts, 0, 0
        self.before: Any = None

    def on_fit_start(self, state: TrainState) -> None:
        def spoil(grad: Tensor) -> Tensor:
            return grad * torch.inf if self.attempt in self.attempts else grad

        next(state.model.parameters()).register_hook(spoil)  # type: ignore[no-untyped-call]

    @staticmethod
    def of(state: TrainState) -> Any:
        schedule = {k: v for k, v in state.schedule.state_dict().items() if k[:2] != "_g"}
        return copy_of(state.model), state.optimizer.state_dict()["state"], schedule, state.step

    def on_before_update(self, state: TrainState) -> None:
        self.before = torch.utils._pytree.tree_map(
            lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf, self.of(state)
        )
        assert state.scaler is not None
        self.scale = state.scaler.get_scale()

    def on_step_end(self, state: TrainState) -> None:
        assert state.scaler is not None
        if self.attempt in self.attempts:
            self.skipped += 1
            assert_same(copy_of(state.model), self.before[0])
            if self.before[1]:  # before its first step an optimizer has no state
                assert_same(self.of(state)[1:], self.before[1:])
            assert state.step == self.before[3]
            assert state.scaler.get_scale() == self.scale / 2
        else:
            assert state.step == self.before[3] + 1
            assert state.schedule.last_epoch == state.step
        self.attempt += 1


@for_each("weights", [False, True])
@for_each("rows", [64, 52, 33])  # 52: the last group is 8, 8 and 4; 33: it is 1
def test_accumulating_four_batches_of_8_is_a_batch_of_32(rows: int, weights: bool) -> None:
    data = doubled(toy_data(rows=rows, val=0))
    if weights:
        amounts = torch.rand(rows, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        data = replace(data, train=weighed(data.train, amounts.tolist()))
    small, large = toy_net().double(), toy_net().double()
    settings = {"optimizer": "sgd", "lr": 0.5, "schedule": "cosine"}
    accumulated = toy_fit(small, data, batch_size=8, accumulate=4, **settings)
    at_once = toy_fit(large, data, batch_size=32, **settings)
    assert_close(small, large, 1e-12)
    assert accumulated.step == at_once.step == 3 * -(-rows // 32)
    assert accumulated.lr == at_once.lr
    ours, wanted = (state.history.as_dict() for state in (accumulated, at_once))
    assert ours["train/loss"] == pytest.approx(wanted["train/loss"], rel=1e-6)
    assert ours["train/accuracy"] == pytest.approx(wanted["train/accuracy"])


@pytest.mark.parametrize("weights", [False, True])
def test_accumulated_texts_count_by_their_tokens(weights: bool) -> None:
    data = tagged_data()
    if weights:
        data = replace(data, train=weighed(data.train, [1.0, 0.5, 2.0, 0.1]))
    small, large = (small_lstm(data.spec).double() for _ in range(2))
    toy_fit(small, data, batch_size=1, accumulate=4, optimizer="sgd", lr=0.5)
    toy_fit(large, data, batch_size=4, optimizer="sgd", lr=0.5)
    assert_close(small, large, 1e-12)


def test_the_gradient_of_all_texts_counts_by_their_tokens() -> None:
    class StopAtOnce(Callback):
        def on_step_end(self, state: TrainState) -> None:
            state.stop_reason = "at once"

    data = tagged_data()
    small, large = (small_lstm(data.spec).double() for _ in range(2))
    settings: dict[str, Any] = {"lr": 0.5, "epochs": 1, "callbacks": [StopAtOnce()]}
    toy_fit(small, data, batch_size=1, optimizer="svrg", **settings)  # begins with all rows
    toy_fit(large, data, batch_size=4, optimizer="sgd", **settings)
    assert_close(small, large, 1e-12)


@pytest.mark.covers("gradient-accumulation")
def test_gradients_of_all_uses_add_up() -> None:
    weight, x1, x2 = torch.tensor(3.0, requires_grad=True), 5.0, 7.0
    (weight * x1 + weight * x2).backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    assert weight.grad.item() == x1 + x2
    found: list[Tensor] = []

    class Keep(Callback):
        def on_before_update(self, state: TrainState) -> None:
            found.append(gradients_of(state.model))

    data = doubled(toy_data(rows=12, val=0))
    for size, groups in ((4, 3), (12, 1)):
        settings = {"batch_size": size, "accumulate": groups, "epochs": 1}
        toy_fit(toy_net().double(), data, callbacks=[Keep()], **settings)
    torch.testing.assert_close(found[0], found[1], rtol=1e-12, atol=1e-14)


class Kept(torch.autograd.graph.saved_tensors_hooks):
    """Counts the bytes that the forward pass keeps for the backward one, without the weights."""

    def __init__(self, model: nn.Module) -> None:
        weights = {weight.data_ptr() for weight in model.parameters()}
        self.bytes, kept = 0, set(weights)

        def keep(tensor: Tensor) -> Tensor:
            if tensor.data_ptr() not in kept:
                kept.add(tensor.data_ptr())
                self.bytes += tensor.numel() * tensor.element_size()
            return tensor

        super().__init__(keep, lambda tensor: tensor)


@pytest.mark.covers("memory-limit-batches")
def test_what_a_batch_keeps_grows_with_its_rows_and_parts_of_it_give_the_same_update() -> None:
    model, kept = toy_net().double(), {}
    for rows in (8, 16, 32, 64):
        inputs = torch.randn(rows, 3, dtype=torch.float64, requires_grad=True)
        seen = Kept(model)
        with seen:
            output = model(inputs)
        kept[rows] = seen.bytes
        del output
    assert kept[8] > 0
    assert kept == {rows: rows // 8 * kept[8] for rows in kept}
    # So a batch that does not fit is taken in parts: the weights are those of the whole.
    data = doubled(toy_data(rows=64, val=0))
    small, large = toy_net().double(), toy_net().double()
    for size, parts, net in ((8, 8, small), (64, 1, large)):
        toy_fit(net, data, batch_size=size, accumulate=parts, optimizer="adam", lr=0.1, epochs=5)
    assert_close(small, large, 1e-10)


def test_events_come_once_an_update_not_once_a_batch() -> None:
    count = Count()
    state = toy_fit(toy_net(), toy_data(rows=20), accumulate=3, epochs=2, callbacks=[count])
    assert state.step == count.before == count.after == 4  # 5 batches are a group of 3 and one of 2
    assert state.steps_per_epoch == 2


def test_a_run_is_never_stopped_within_an_update() -> None:
    class StopAtOnce(Callback):
        def on_step_end(self, state: TrainState) -> None:
            state.stop_reason = "at once"

    state = toy_fit(toy_net(), toy_data(rows=20), accumulate=3, callbacks=[StopAtOnce()])
    assert (state.position, state.step, state.samples) == (3, 1, 12)
    assert all(parameter.grad is None for parameter in state.model.parameters())


def quadratic() -> tuple[nn.Module, Any, dict[str, Any]]:
    """Least squares: a quadratic in the weights, with its minimum far from the start."""
    data = doubled(toy_data("real", rows=20, val=0))
    slope = torch.tensor([[2.0, 0, 1], [0, -3, 0], [1, 0, 5]], dtype=torch.float64)
    noise = torch.randn(20, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    targets = data.train.inputs @ slope + 4 + 0.1 * noise
    data = replace(data, train=replace(data.train, targets=targets))
    task = Regression.plain(3)
    settings = {"optimizer": "lbfgs", "batch_size": 20, "epochs": 3, "task": task}
    model = nn.Linear(3, 3, dtype=torch.float64)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    return model, data, settings


def ridge(data: Data, l2: float) -> Tensor:
    """Weights and bias of the least mean squared error plus l2 / 2 times their squares, (3, 4)."""
    inputs = torch.cat((data.train.inputs, torch.ones(20, 1, dtype=torch.float64)), dim=1)
    curvature = 2 / 60 * inputs.T @ inputs + l2 * torch.eye(4, dtype=torch.float64)
    best: Tensor = torch.linalg.solve(curvature, 2 / 60 * inputs.T @ data.train.targets)
    return best.T


def learned_weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().reshape(3, -1) for p in model.parameters()], dim=1)


@pytest.mark.covers("empirical-risk")
def test_lbfgs_finds_the_least_squares_where_the_mean_of_the_losses_is_smallest() -> None:
    model, data, settings = quadratic()
    count = Count()
    state = toy_fit(model, data, callbacks=[count], **settings)
    torch.testing.assert_close(learned_weights(model), ridge(data, 0.0), rtol=0, atol=1e-4)
    with torch.no_grad():
        losses = (model(data.train.inputs) - data.train.targets).square().mean(dim=1)
    risk = measure_quickly(model, data.train, settings["task"])["loss"]
    assert risk == pytest.approx(losses.mean().item(), rel=1e-12)
    assert state.step == count.after == 3
    assert count.before > 6  # it looks several times a step
    assert all(parameter.grad is None for parameter in model.parameters())


def test_recorded_loss_of_lbfgs_is_that_before_the_step() -> None:
    model, data, settings = quadratic()
    task = settings["task"]
    with torch.no_grad():
        first = task.loss(model(data.train.inputs), whole_batch(data.train)).item()
    history = toy_fit(model, data, **settings).history
    assert history.series("train/loss")[0] == pytest.approx(first, rel=1e-6)
    assert history.series("train/loss")[1] < 0.1 * first


def test_schedule_moves_once_a_step_of_lbfgs() -> None:
    model, data, settings = quadratic()
    state = toy_fit(model, data, schedule="linear", **settings)
    assert state.schedule.last_epoch == 3
    assert state.lr == 0


def test_an_error_in_the_middle_of_a_line_search_puts_the_weights_back() -> None:
    class Refuse(Callback):
        def __init__(self) -> None:
            self.looks = 0

        def on_before_update(self, state: TrainState) -> None:
            self.looks += 1
            if self.looks == 3:
                assert not torch.equal(next(state.model.parameters()), first["weight"])
                raise RunError("enough")

    model, data, settings = quadratic()
    first = copy_of(model)
    with pytest.raises(RunError, match="enough"):
        toy_fit(model, data, callbacks=[Refuse()], **settings)
    assert_same(copy_of(model), first)


class Attends(nn.Module):
    """Attention by torch's kernel, whose backward pass has no derivative."""

    def __init__(self) -> None:
        super().__init__()
        self.scores, self.head = nn.Linear(3, 12), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = self.scores(x).view(-1, 3, 1, 2, 2).unbind(dim=1)
        attended = functional.scaled_dot_product_attention(queries, keys, values)
        answer: Tensor = self.head(attended.flatten(1))
        return answer


@pytest.mark.parametrize("optimizer", ["newton", "hessian-free"])
def test_what_differentiates_twice_runs_no_kernel_that_cannot_be(optimizer: str) -> None:
    with seeded(0):
        model = Attends()
    backends: list[tuple[Any, Any]] = []
    model.head.register_forward_pre_hook(
        lambda *_: backends.append((torch.backends.cudnn.enabled, torch.backends.mkldnn.enabled))
    )
    settings = {"optimizer": optimizer, "batch_size": 20, "epochs": 2}
    history = toy_fit(model, toy_data(rows=20, val=0), **settings).history.as_dict()
    assert history["train/loss"][1] < history["train/loss"][0]
    assert (False, False) in backends  # cuDNN has no second derivatives of recurrent layers
    assert torch.backends.cudnn.enabled and torch.backends.mkldnn.enabled


@for_each("optimizer", ["lbfgs", "svrg", "newton", "hessian-free"])
def test_batch_norm_counts_one_look_a_step(optimizer: str) -> None:
    data, model = doubled(toy_data(rows=20, val=0)), toy_net(batch_norm=True).double()
    norm: Any = model[1]
    with torch.no_grad():
        mean = model[0](data.train.inputs).mean(dim=0)
    means: list[Tensor] = []

    class Note(Callback):
        def on_step_end(self, state: TrainState) -> None:
            means.append(norm.running_mean.clone())

    toy_fit(model, data, optimizer=optimizer, batch_size=20, epochs=2, callbacks=[Note()])
    assert norm.num_batches_tracked == 2
    torch.testing.assert_close(means[0], 0.1 * mean)  # of the weights before the step


def test_an_error_within_a_step_puts_the_statistics_back() -> None:
    class Refuse(Callback):
        def on_before_update(self, state: TrainState) -> None:
            raise RunError("enough")

    for optimizer in ("lbfgs", "svrg"):
        model = toy_net(batch_norm=True)
        first = copy_of(model)
        with pytest.raises(RunError, match="enough"):
            toy_fit(model, toy_data(), optimizer=optimizer, callbacks=[Refuse()])
        assert_same(copy_of(model), first)


@pytest.mark.parametrize("optimizer", ["sgd", "lbfgs"])
def test_a_penalty_on_nothing_is_none(optimizer: str) -> None:
    nets = [nn.LayerNorm(3), nn.LayerNorm(3)]  # gains and biases alone
    for net, l2 in zip(nets, (0.0, 0.1), strict=True):
        toy_fit(net, toy_data(), optimizer=optimizer, l2=l2, penalize="weights", epochs=1)
    assert_same(copy_of(nets[1]), copy_of(nets[0]))


SECOND_ORDER: dict[str, dict[str, Any]] = {
    "newton": {"optimizer_options": {"damping": 0.0}},
    "hessian-free": {"optimizer_options": {"damping": 0.0, "tol": 1e-10}},
}


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_a_second_order_step_finds_the_penalized_least_squares(name: str) -> None:
    model, data, settings = quadratic()
    settings |= {"optimizer": name, "epochs": 1, **SECOND_ORDER[name]}
    settings["batch_size"] = None
    losses: list[float] = []

    class Look(Callback):
        def on_before_update(self, state: TrainState) -> None:
            losses.append(state.loss.item())
            assert gradients_of(state.model).norm() > 0

    start = task_loss(model, data, settings)
    state = toy_fit(model, data, callbacks=[Look()], l2=0.1, **settings)
    assert state.steps_per_epoch == 1
    assert losses[0] == pytest.approx(start, rel=1e-12)  # reported without the penalty
    tolerance = 1e-12 if name == "newton" else 1e-8
    torch.testing.assert_close(learned_weights(model), ridge(data, 0.1), rtol=0, atol=tolerance)


def task_loss(model: nn.Module, data: Any, settings: dict[str, Any]) -> float:
    with torch.no_grad():
        loss: Tensor = settings["task"].loss(model(data.train.inputs), whole_batch(data.train))
    return loss.item()


def test_lbfgs_is_told_the_loss_with_its_penalty() -> None:
    model, data, settings = quadratic()
    state = toy_fit(model, data, l2=0.1, **{**settings, "epochs": 8})
    torch.testing.assert_close(learned_weights(model), ridge(data, 0.1), rtol=0, atol=1e-4)
    assert state.loss.item() == pytest.approx(task_loss(model, data, settings), rel=1e-6)


def test_svrg_is_given_the_gradient_of_all_rows_once_an_epoch() -> None:
    model, data = toy_net().double(), doubled(toy_data(rows=18, val=0))
    amounts = torch.rand(18, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    data = replace(data, train=weighed(data.train, amounts.tolist()))
    twin, kept = copy.deepcopy(model), []

    class Keep(Callback):
        def on_step_end(self, state: TrainState) -> None:
            kept.append([state.optimizer.state[w]["full"] for w in model.parameters()])
            assert state.batch is not None
            assert len(state.batch.rows) == [4, 4, 4, 4, 2][(state.step - 1) % 5]

    toy_fit(model, data, optimizer="svrg", epochs=2, l2=0.1, callbacks=[Keep()])
    whole = replace(data.train, weights=amounts / amounts.mean())
    loss = Classification(3).loss(twin(whole.inputs), whole_batch(whole))
    loss = loss + 0.05 * sum(w.square().sum() for w in twin.parameters())
    torch.testing.assert_close(kept[0], list(torch.autograd.grad(loss, list(twin.parameters()))))
    same = [torch.equal(one[0], other[0]) for one, other in itertools.pairwise(kept)]
    assert same == [True, True, True, True, False, True, True, True, True]


def test_with_one_batch_an_epoch_svrg_is_gradient_descent() -> None:
    data, settings = doubled(toy_data(val=0)), {"batch_size": 20, "lr": 0.3, "epochs": 5}
    ours, theirs = toy_net().double(), toy_net().double()
    toy_fit(ours, data, optimizer="svrg", **settings)
    toy_fit(theirs, data, optimizer="sgd", **settings)
    assert_close(ours, theirs, 1e-12)


class Masks(nn.Module):
    """Notes the masks that dropout draws."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.drop = nn.Linear(3, 3), nn.Dropout(0.5)
        self.seen: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.drop(torch.ones_like(x))
        self.seen.append(hidden)
        output: Tensor = self.net(x * hidden)
        return output


@pytest.mark.parametrize("optimizer", ["svrg", "lbfgs", "hessian-free"])
def test_every_look_of_a_step_draws_the_same_masks_and_every_step_new_ones(optimizer: str) -> None:
    model, data = Masks(), toy_data(rows=20, val=0)
    ends: list[int] = []

    class Note(Callback):
        def on_step_end(self, state: TrainState) -> None:
            ends.append(len(model.seen))

    settings = {"optimizer": optimizer, "batch_size": 20, "epochs": 2}
    toy_fit(model, data, callbacks=[Note()], **settings)
    first, second = model.seen[: ends[0]], model.seen[ends[0] : ends[1]]
    if optimizer == "svrg":  # the pass over all rows comes before the step
        first, second = first[1:], second[1:]
    assert len(first) >= 2
    assert all(torch.equal(mask, first[0]) for mask in first)
    assert all(torch.equal(mask, second[0]) for mask in second)
    assert not torch.equal(first[0], second[0])


def test_masks_of_the_pass_over_all_rows_are_not_drawn_again() -> None:
    model, data = Masks(), toy_data(rows=4, val=0)
    toy_fit(model, data, optimizer="svrg", batch_size=4, epochs=1)
    whole, here, there = model.seen
    assert torch.equal(here, there)
    assert not torch.equal(whole, here)


def test_a_row_that_is_not_finite_is_found_before_svrg_moves() -> None:
    data = toy_data(rows=20, val=0)
    last = int(BatchLoader(data.train, 4).order(0)[-1])
    data.train.inputs[last] = torch.nan
    model = toy_net()
    first = copy_of(model)
    with pytest.raises(RunError, match=f"the inputs of row {last} are not finite"):
        toy_fit(model, data, optimizer="svrg", callbacks=[GuardNonFinite()])
    assert_same(copy_of(model), first)


def test_the_loss_is_computed_from_all_heads() -> None:
    main, other = torch.zeros(2, 3), torch.ones(2, 3)
    assert heads_of(main) == (main,)
    assert heads_of(Output(logits=main, aux=(other,))) == (main, other)


RESUMED: dict[str, dict[str, Any]] = {
    "svrg": {"optimizer": "svrg", "lr": 0.1},
    "newton": {"optimizer": "newton", "batch_size": None, "epochs": 6},
    "hessian-free": {"optimizer": "hessian-free", "batch_size": None, "epochs": 6},
}


@pytest.mark.parametrize("settings", RESUMED.values(), ids=RESUMED.keys())
def test_a_run_goes_on_bit_for_bit_also_in_the_middle_of_a_period(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    class Save(Callback):
        def on_step_end(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / f"{state.step}", state)

    data = toy_data(rows=10)
    settings = {"schedule": "cosine", "l2": 0.01, **settings}
    trainer = toy_trainer(data, callbacks=[Save()], **settings)
    whole = trainer.start(toy_net(dropout=0.4), data)
    trainer.fit(whole, data)
    for step in (1, 3, 5):
        again = toy_trainer(data, **settings)
        state = again.start(toy_net(dropout=0.4), data)
        load_checkpoint(tmp_path / f"{step}", state)
        again.fit(state, data)
        assert_same(copy_of(state.model), copy_of(whole.model))
        assert_same(state.optimizer.state_dict(), whole.optimizer.state_dict())
        assert state.history.as_dict() == whole.history.as_dict()


@for_each("optimizer", ["lbfgs", "svrg", "newton", "hessian-free"])
@for_each("name", ["l1", "clip_norm", "clip_value", "weight_noise", "gradient_noise"])
def test_what_changes_gradients_or_weights_is_refused_where_steps_are_searched(
    optimizer: str, name: str
) -> None:
    sentence = f"{name} is not supported with {optimizer}: it takes its own steps"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        TrainConfig(**{"optimizer": optimizer, name: 0.1})  # type: ignore[arg-type]


def test_code_that_cannot_be_differentiated_twice_is_not_compiled() -> None:
    sentence = "compile is not supported with newton: it differentiates twice"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        TrainConfig(optimizer="newton", compile=True)
    TrainConfig(optimizer="lbfgs", compile=True)


@for_each(
    ("optimizer", "pace"),
    [
        ("gradient-descent", Pace(200, 1, 300)),
        ("newton", Pace(200, 1, 100)),
        ("hessian-free", Pace(200, 1, 100)),
        ("lbfgs", Pace(200, 1, 100)),
        ("svrg", Pace(32, 7, 143)),
        ("adam", Pace(32, 7, 143)),
    ],
)
def test_optimizers_that_search_take_all_rows_unless_told(optimizer: str, pace: Pace) -> None:
    assert pace_for(TrainConfig(optimizer=optimizer), 200) == pace
    assert pace_for(TrainConfig(optimizer=optimizer, batch_size=200), 200).batch_size == 200


@pytest.mark.parametrize("optimizer", ["gradient-descent", "newton", "hessian-free"])
def test_a_part_of_the_rows_is_refused_where_a_step_takes_all(optimizer: str) -> None:
    sentence = f"batch_size is not supported with {optimizer}: a step uses all 200 rows, got 32"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        pace_for(TrainConfig(optimizer=optimizer, batch_size=32), 200)
    assert pace_for(TrainConfig(optimizer="lbfgs", batch_size=32), 200).batch_size == 32


@for_each(
    "optimizer",
    [
        {"optimizer": "sgd", "kernel": "foreach"},
        {"optimizer": "momentum", "kernel": "fused"},
        {"optimizer": "adam", "kernel": "foreach"},
        {"optimizer": "adam", "kernel": "fused"},
        {"optimizer": "adamw", "accumulate": 2},
    ],
)
@for_each("attempts", [set(), {0}, {1, 2}, {0, 4}, {2, 3, 5}])
def test_overflow_in_float16_skips_the_update_the_schedule_and_the_step(
    optimizer: dict[str, Any], attempts: set[int]
) -> None:
    overflow = Overflow(attempts)
    settings = {**optimizer, "precision": "fp16-mixed", "schedule": "cosine", "epochs": 2}
    state = toy_fit(toy_net(), toy_data(), callbacks=[overflow], **settings)
    assert overflow.skipped == len(attempts)
    assert state.step == overflow.attempt - len(attempts) == state.schedule.last_epoch
    assert state.samples == 40


def test_callbacks_see_float16_gradients_in_their_own_size() -> None:
    found: list[Tensor] = []

    class Keep(Callback):
        def on_before_update(self, state: TrainState) -> None:
            found.append(gradients_of(state.model))

    for precision in ("fp32", "fp16-mixed"):
        settings = {"precision": precision, "epochs": 1, "batch_size": 20}
        toy_fit(toy_net(), toy_data(), callbacks=[Keep()], **settings)
    torch.testing.assert_close(found[1], found[0], rtol=2e-2, atol=2e-3)


def test_the_batch_and_its_loss_are_at_hand_after_a_step() -> None:
    class Look(Callback):
        def on_step_end(self, state: TrainState) -> None:
            assert state.batch is not None
            rows = data.train.inputs[state.batch.rows]
            assert torch.equal(state.batch.inputs, rows)
            assert not state.loss.requires_grad
            assert state.loss.item() > 0

    data = toy_data()
    trainer = toy_trainer(data, callbacks=[Look()])
    trainer.fit(trainer.start(toy_net(), data), data)


class Compiler:
    """Stands in for torch.compile: notes what it is given, and the sizes of the batches."""

    def __init__(self) -> None:
        self.given: list[tuple[nn.Module, dict[str, Any]]] = []
        self.sizes: list[int] = []

    def __call__(self, model: nn.Module, **options: Any) -> Callable[[Tensor], Any]:
        self.given.append((model, options))

        def run(inputs: Tensor) -> Any:
            self.sizes.append(len(inputs))
            return model(inputs)

        return run


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    stub = Compiler()
    monkeypatch.setattr(torch, "compile", stub)
    return stub


def test_every_training_batch_goes_through_the_compiled_model_and_no_other(
    compiler: Compiler,
) -> None:
    model, data = toy_net(batch_norm=True), toy_data(rows=10, val=12)
    state = toy_fit(model, data, compile=True, epochs=2)
    assert compiler.given == [(model, {"dynamic": False})]
    looks, epoch = [4, 2], [4, 4, 2]  # each size once before the first step
    assert compiler.sizes == [*looks, *epoch, *epoch]  # not the 12 rows of validation
    assert state.model is model
    assert list(model.state_dict()) == list(toy_net(batch_norm=True).state_dict())


def test_closures_compute_through_the_compiled_model(compiler: Compiler) -> None:
    model, data, settings = quadratic()
    toy_fit(model, data, compile=True, **settings)
    assert len(compiler.sizes) > 6


def pixels() -> Data:
    """Ten images of 4 x 4, in three classes."""
    data, random = toy_data(rows=10, val=0), torch.Generator().manual_seed(0)
    images = torch.rand(10, 1, 4, 4, generator=random)
    return replace(
        data,
        spec=replace(data.spec, inputs="image", input_shape=(1, 4, 4)),
        train=replace(data.train, inputs=images),
    )


def small_conv() -> nn.Sequential:
    with seeded(0):
        layers = [nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Dropout(0.4)]
        return nn.Sequential(*layers, nn.Linear(8, 3))


NOISES: dict[str, Any] = {
    "augment": ("crop=1", "mixup=0.4"),
    "weight_noise": 0.5,
    "input_noise": 0.1,
    "label_noise": 0.2,
}


def test_compiling_leaves_weights_gradients_statistics_and_draws_alone(
    compiler: Compiler,
) -> None:
    seen: dict[str, Any] = {}

    class Watch(Callback):
        def on_epoch_start(self, state: TrainState) -> None:
            model(data.train.inputs).sum().backward()
            seen.update(before=copy_of(model), gradients=gradients_of(model))
            seen.update(draws=torch.get_rng_state())

        def on_batch_start(self, state: TrainState) -> None:
            assert compiler.sizes == [4, 2]
            buffers = dict(model.named_buffers())  # weights have their first noise by now
            assert_same(buffers, {name: seen["before"][name] for name in buffers})
            assert torch.equal(gradients_of(model), seen["gradients"])
            assert torch.equal(torch.get_rng_state(), seen["draws"])
            raise KeyboardInterrupt

    model, data = small_conv(), pixels()
    with pytest.raises(KeyboardInterrupt):
        toy_fit(model, data, compile=True, callbacks=[Watch()], **NOISES)
    assert_same(copy_of(model), seen["before"])


def test_batches_that_are_only_tried_are_changed_and_no_event_of_yours(
    compiler: Compiler,
) -> None:
    events: list[str] = []

    class Half(Callback):
        only_changes_batch = True

        def on_batch_start(self, state: TrainState) -> None:
            assert state.batch is not None
            state.batch = state.batch._replace(inputs=state.batch.inputs[:, :2])

    class Note(Callback):
        def on_batch_start(self, state: TrainState) -> None:
            events.append("start")

        def on_batch_end(self, state: TrainState) -> None:
            events.append("end")

    toy_fit(nn.Linear(2, 3), toy_data(val=0), compile=True, epochs=1, callbacks=[Half(), Note()])
    assert events == ["start", "end"] * 5


def test_nothing_is_compiled_unless_asked_for(compiler: Compiler) -> None:
    toy_fit(toy_net(), toy_data())
    assert compiler.given == []


def test_a_compiler_that_fails_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(model: nn.Module, **options: Any) -> Callable[[Tensor], Tensor]:
        def run(inputs: Tensor) -> Tensor:
            raise torch._dynamo.exc.TorchDynamoException("No working C++ compiler\n\nSet VERBOSE=1")

        return run

    monkeypatch.setattr(torch, "compile", broken)
    sentence = "the model cannot be compiled: No working C++ compiler; set compile to false"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        toy_fit(toy_net(), toy_data(), compile=True)


def test_an_error_of_the_model_itself_stays_what_it_is(compiler: Compiler) -> None:
    with pytest.raises(RuntimeError, match=r"^(addmm: )?mat1 and mat2 shapes cannot be multiplied"):
        toy_fit(nn.Linear(4, 3), toy_data(), compile=True)


class Wrapped(nn.Module):
    """Returns an Output."""

    def __init__(self) -> None:
        super().__init__()
        self.net = toy_net(batch_norm=True)

    def forward(self, x: Tensor) -> Output:
        return Output(logits=self.net(x))


@pytest.fixture(params=["eager", pytest.param("inductor", marks=pytest.mark.slow)])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """torch.compile itself: traced only, or with real code behind it."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=request.param))
    return str(request.param)


WITHIN_TORCH = pytest.mark.filterwarnings("ignore:.*torch.jit")


@WITHIN_TORCH
@pytest.mark.parametrize("build", [toy_net, Wrapped])
def test_a_compiled_run_is_the_plain_one(backend: str, build: Callable[[], nn.Module]) -> None:
    data, settings = toy_data(rows=10), {"optimizer": "momentum", "lr": 0.1, "schedule": "cosine"}
    plain, compiled = build(), build()
    history = toy_fit(plain, data, **settings).history.as_dict()
    state = toy_fit(compiled, data, compile=True, **settings)
    assert_close(compiled, plain, 1e-5)
    assert state.history.as_dict()["val/loss"] == pytest.approx(history["val/loss"], abs=1e-5)
    assert_same(copy_of(copy.deepcopy(compiled)), copy_of(compiled))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in compiled.modules())


@WITHIN_TORCH
def test_a_compiled_run_with_all_noises_is_the_plain_one(backend: str) -> None:
    plain, compiled = small_conv(), small_conv()
    toy_fit(plain, pixels(), optimizer="momentum", lr=0.1, **NOISES)
    # Compiled code draws dropout by numbers of its own; here it has to take torch's.
    with torch._inductor.config.patch(fallback_random=True):
        toy_fit(compiled, pixels(), optimizer="momentum", lr=0.1, compile=True, **NOISES)
    assert_close(compiled, plain, 1e-5)


@pytest.mark.slow
@WITHIN_TORCH
def test_a_compiled_run_goes_on_bit_for_bit(backend: str, tmp_path: Path) -> None:
    class Save(Callback):
        def on_step_end(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / f"{state.step}", state)

    data = toy_data(rows=10)
    settings: dict[str, Any] = {"compile": True, "optimizer": "adam", "lr": 0.05}
    trainer = toy_trainer(data, callbacks=[Save()], **settings)
    whole = trainer.start(toy_net(batch_norm=True, dropout=0.4), data)
    trainer.fit(whole, data)
    for step in (1, 4, 6):  # within the first epoch, within the second, after it
        again = toy_trainer(data, **settings)
        state = again.start(toy_net(batch_norm=True, dropout=0.4), data)
        torch._dynamo.reset()  # as in a new process
        load_checkpoint(tmp_path / f"{step}", state)
        again.fit(state, data)
        assert_same(copy_of(state.model), copy_of(whole.model))
        assert state.history.as_dict() == whole.history.as_dict()


def test_noise_is_on_the_logits_of_an_output_and_on_nothing_else() -> None:
    output = Output(logits=torch.zeros(2, 3), aux=(torch.ones(2),))
    noisy = with_noise(output, 0.5)
    assert isinstance(noisy, Output)
    assert bool((noisy.logits != 0).all())
    assert noisy.aux == output.aux
    assert not output.logits.any()
    assert with_noise(output, 0.0) is output
