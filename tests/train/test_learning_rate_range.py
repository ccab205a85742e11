"""Trying learning rates: the losses of an ordinary training, a safe suggestion, nothing touched."""

import random
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from netwright.core.errors import ConfigError, RunError
from netwright.core.seeding import random_state
from netwright.data.dataset import Data
from netwright.data.loading.loader import BatchLoader
from netwright.inspection.training.learning_rate_range import LearningRateRange
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.train.learning_rate_range import try_learning_rates
from netwright.train.own.parts import OwnParts
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.task import Task
from tests.repetition import for_each
from tests.train.toy_runs import (
    OUTPUTS,
    SHORT,
    assert_same,
    copy_of,
    doubled,
    toy_data,
    toy_fit,
    toy_net,
    whole_batch,
)


def tried(
    model: nn.Module, data: Data, *, task: Task | None = None, seed: int = 0, **settings: Any
) -> LearningRateRange:
    config = TrainConfig(**{**SHORT, **settings})
    return try_learning_rates(model, data, task or task_for(data), config, seed=seed)


def by_hand(model: nn.Module, data: Data, count: int, seed: int) -> list[float]:
    """The same test as anybody would write it, with SGD and batches of 4."""
    task, losses = task_for(data), []
    loader = BatchLoader(data.train, 4, seed=seed)
    batches = [batch for epoch in range(count) for batch in loader.epoch(epoch)]
    for update in range(count):
        loss = task.loss(model(batches[update].inputs), batches[update])
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for weight, gradient in zip(model.parameters(), gradients, strict=True):
                weight.sub_(10 ** (-7 + 8 * update / 99) * gradient)
    return losses


def test_the_rates_of_early_parts_grow_too() -> None:
    early = tried(toy_net(), toy_data(), optimizer="sgd", layer_decay=0.99)
    plain = tried(toy_net(), toy_data(), optimizer="sgd")
    assert early.loss[:90] == pytest.approx(plain.loss[:90], rel=0.02)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_losses_are_those_of_a_loop_written_by_hand(seed: int) -> None:
    data = doubled(toy_data(rows=18))  # the last batch of an epoch has two rows
    found = tried(toy_net().double(), data, seed=seed, optimizer="sgd")
    assert found.loss == pytest.approx(by_hand(toy_net().double(), data, len(found.loss), seed))


def test_with_muon_the_rate_of_biases_stays_and_that_of_matrices_is_tried() -> None:
    data, model = doubled(toy_data(rows=20)), toy_net().double()
    found = tried(model, data, optimizer="muon")
    optimizer = build_optimizer(OPTIMIZERS.load("muon"), model)
    matrices, biases = optimizer.param_groups
    batches = [batch for epoch in range(20) for batch in BatchLoader(data.train, 4).epoch(epoch)]
    losses = []
    for lr, batch in zip(found.lr, batches, strict=False):
        matrices["lr"], biases["lr"] = lr, 3e-4
        optimizer.zero_grad()
        loss = task_for(data).loss(model(batch.inputs), batch)
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    assert found.loss == pytest.approx(losses)


def bare(parameters: Any) -> Optimizer:
    return SGD(parameters, lr=0.1)


def deaf(parameters: Any, **settings: Any) -> Optimizer:
    return SGD(parameters, lr=0.1)


def grouped(parameters: Any) -> Optimizer:
    return SGD([{"params": parameters, "lr": 0.1}])


@for_each(
    ("optimizer", "lr"),
    [
        (bare, None),
        (deaf, None),
        (deaf, 0.5),
        (grouped, None),
        (SGD, None),
        (SGD, 0.5),
        (partial(SGD, lr=0.1), None),
    ],
)
def test_an_optimizer_of_ones_own_is_tried_at_the_same_rates(optimizer: Any, lr: Any) -> None:
    config, data = TrainConfig(**{**SHORT, "lr": lr}), toy_data()
    own = OwnParts(optimizer=optimizer)
    found = try_learning_rates(toy_net(), data, task_for(data), config, own=own)
    assert found == tried(toy_net(), data, optimizer="sgd")


def test_a_group_with_a_rate_of_its_own_stays_at_it() -> None:
    def groups(module: nn.Module) -> list[Any]:
        first, *rest = module.parameters()
        return [{"params": [first], "lr": 0.0}, {"params": rest}]

    def first_held(module: nn.Module) -> nn.Module:
        next(module.parameters()).requires_grad_(False)
        return module

    data, config = toy_data(), TrainConfig(**SHORT)
    own = OwnParts(optimizer=SGD, parameter_groups=groups)
    found = try_learning_rates(toy_net(), data, task_for(data), config, own=own)
    assert found == tried(first_held(toy_net()), data, optimizer="sgd")


def test_rates_rise_by_the_same_factor_from_1e_minus_7_to_10() -> None:
    found = tried(nn.Linear(3, 3), toy_data())  # a linear model on three classes never blows up
    assert found.lr == pytest.approx(np.geomspace(1e-7, 10, 100))
    assert len(found.loss) == 100


def everything(model: nn.Module) -> Any:
    return (
        copy_of(model),
        [part.training for part in model.modules()],
        [None if w.grad is None else w.grad.clone() for w in model.parameters()],
        random_state(),
    )


@pytest.mark.parametrize("optimizer", ["adam", "momentum"])
def test_model_mode_gradients_and_generators_stay_bit_for_bit(optimizer: str) -> None:
    data, model = toy_data(), toy_net(batch_norm=True, dropout=0.4)
    model[1].eval()  # a frozen part stays frozen
    model(data.train.inputs).sum().backward()
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    before = everything(model)
    assert tried(model, data, optimizer=optimizer).loss[-1] > 0
    assert_same(everything(model), before)


def test_a_training_afterwards_is_the_one_without() -> None:
    data = toy_data()
    fresh, used = (toy_net(batch_norm=True, dropout=0.4) for _ in range(2))
    tried(used, data)
    for model in (fresh, used):
        toy_fit(model, data, optimizer="adam")
    assert_same(copy_of(used), copy_of(fresh))


def test_the_same_seed_gives_the_same_numbers() -> None:
    data, model = toy_data(), toy_net(dropout=0.4)
    found = tried(model, data)
    assert tried(model, data) == found
    assert tried(model, data, seed=1).loss != found.loss


def quadratic(scale: float) -> tuple[nn.Module, Data, Task, float]:
    """Least squares on all rows at once, and the largest rate at which its descent is stable."""
    data = doubled(toy_data("real", val=0))
    inputs = data.train.inputs * torch.tensor([1.0, 0.5, 0.1]) * scale
    data = replace(data, train=replace(data.train, inputs=inputs, targets=data.train.targets + 2))
    model, task = nn.Linear(3, OUTPUTS, dtype=torch.float64), Regression.plain(OUTPUTS)

    def loss(weight: Tensor, bias: Tensor) -> Tensor:
        output = torch.func.functional_call(model, {"weight": weight, "bias": bias}, (inputs,))
        return task.loss(output, whole_batch(data.train))

    weights = (model.weight.detach(), model.bias.detach())
    blocks = torch.autograd.functional.hessian(loss, weights)  # type: ignore[no-untyped-call]
    sizes = [weight.numel() for weight in weights]
    hessian = torch.cat(
        [
            torch.cat([part.reshape(size, -1) for part in row], dim=1)
            for row, size in zip(blocks, sizes, strict=True)
        ]
    )
    return model, data, task, 2 / float(torch.linalg.eigvalsh(hessian)[-1])


@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_the_suggestion_on_a_quadratic_is_stable_and_not_timid(scale: float) -> None:
    model, data, task, largest = quadratic(scale)
    found = tried(model, data, task=task, optimizer="sgd", batch_size=20)
    assert found.suggestion is not None
    assert largest / 30 < found.suggestion < largest
    settings: dict[str, Any] = {"optimizer": "sgd", "batch_size": 20, "task": task, "epochs": 100}
    losses = toy_fit(model, data, lr=found.suggestion, **settings).history.series("train/loss")
    assert losses[-1] < 0.5 * losses[0]
    assert losses == sorted(losses, reverse=True)


def test_ends_where_the_smoothed_loss_is_four_times_its_smallest() -> None:
    model, data, task, _ = quadratic(10.0)
    found = tried(model, data, task=task, optimizer="sgd", batch_size=20)
    settled = found.smoothed[20:]
    assert len(found.loss) < 100
    assert settled[-1] > 4 * min(settled)
    assert all(loss <= 4 * min(settled[: i + 1]) for i, loss in enumerate(settled[:-1]))


class Scripted(nn.Module):
    """Puts out one loss after the other; its only weight has no say."""

    def __init__(self, losses: list[float]) -> None:
        super().__init__()
        self.losses, self.weight = losses, nn.Parameter(torch.zeros(()))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.weight * 0 + torch.full((len(x), 1), self.losses[self.calls - 1])


class AsTold(Regression):
    """The loss is what the model puts out."""

    def loss(self, output: Any, batch: Any) -> Tensor:
        return torch.as_tensor(output).mean()


def scripted(losses: list[float]) -> LearningRateRange:
    return tried(Scripted(losses), toy_data("real"), task=AsTold.plain(1))


def test_one_lucky_batch_at_the_start_does_not_end_it() -> None:
    assert len(scripted([0.001, *[1.0] * 99]).loss) == 100


def test_the_first_twenty_never_end_it_and_the_next_does() -> None:
    losses = [1.0] * 20 + [1.0, 100.0, 100.0]
    assert scripted([*losses, *[1.0] * 77]).loss == tuple(losses[:22])
    assert len(scripted([*[1.0] * 10, *[100.0] * 10, *[1.0] * 80]).loss) == 100


@for_each("bad", [float("nan"), float("inf"), float("-inf")])
@for_each("count", [2, 4, 7])  # 4: it is the last batch of an epoch of 5
def test_ends_before_a_loss_that_is_not_finite(bad: float, count: int) -> None:
    assert scripted([*[2.0] * count, bad, 1.0]).loss == (2.0,) * count


def test_a_first_loss_that_is_not_finite_is_refused() -> None:
    sentence = (
        "^the loss of the first batch is not finite: a learning-rate range test is not possible$"
    )
    with pytest.raises(RunError, match=sentence):
        scripted([float("nan")])


class Counting(nn.Linear):
    """Counts how often it is used, on all its copies together."""

    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        type(self).calls += 1
        return super().forward(x)


def test_an_update_of_several_batches_is_one_update() -> None:
    Counting.calls = 0
    found = tried(Counting(3, 3), toy_data(rows=40), batch_size=5, accumulate=4)
    assert len(found.loss) == 100
    assert Counting.calls == 400


def test_an_update_that_float16_skips_is_tried_again_at_the_same_rate() -> None:
    data = toy_data("real", val=0)
    inputs = data.train.inputs * 500  # gradients overflow until the scale has come down
    data = replace(data, train=replace(data.train, inputs=inputs))
    Counting.calls = 0
    found = tried(Counting(3, 3), data, task=Regression.plain(3), precision="fp16-mixed")
    assert Counting.calls > len(found.loss) == len(found.lr)
    assert found.lr == pytest.approx(np.geomspace(1e-7, 10, 100)[: len(found.lr)])


def test_rate_schedule_warm_up_and_compilation_of_the_config_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **settings: Any) -> None:
        raise RuntimeError("compiled")

    monkeypatch.setattr(torch, "compile", refuse)
    other: dict[str, Any] = {"lr": 3.0, "schedule": "cosine", "warmup": 50, "epochs": 1}
    assert tried(toy_net(), toy_data(), compile=True, **other) == tried(toy_net(), toy_data())


def test_an_optimizer_that_searches_its_step_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^lbfgs evaluates the loss several times per step"):
        tried(toy_net(), toy_data(), optimizer="lbfgs")
