"""NaN and infinity: caught before the update, told with the place, and never a false alarm."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.data.dataset import Data
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import LOOK_EVERY, GuardNonFinite
from netwright.train.state import TrainState
from netwright.train.tasks.regression import Regression
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start

NAN = float("nan")


class Remember(Callback):
    """The weights after the last update, and the rows of the batch at hand."""

    weights: dict[str, Tensor]

    def on_fit_start(self, state: TrainState) -> None:
        self.weights = copy_of(state.model)
        self.state = state

    def on_step_end(self, state: TrainState) -> None:
        self.weights = copy_of(state.model)


class Root(nn.Module):
    """sqrt(w x): at x = 0 the value is 0 and the slope is infinite, so 0 * inf = NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3, bias=False)
        nn.init.ones_(self.inner.weight)

    def forward(self, x: Tensor) -> Tensor:
        roots: Tensor = self.inner(x.abs()).sqrt()
        return roots


class Logarithm(Root):
    """The parts are finite, what is done between them is not: log of a negative number."""

    def forward(self, x: Tensor) -> Tensor:
        logs: Tensor = self.inner(x).log()
        return logs


def spoil(data: Data, what: str, row: int, value: float) -> Data:
    values = getattr(data.train, what).clone()
    values[row] = value
    return replace(data, train=replace(data.train, **{what: values}))


def caught(model: nn.Module, data: Data, **settings: Any) -> tuple[str, Remember]:
    """The refusal; nothing has moved since the last good update."""
    remember = Remember()
    with pytest.raises(RunError) as refusal:
        toy_fit(model, data, callbacks=[GuardNonFinite(), remember], **settings)
    assert_same(dict(model.named_parameters()), remember.weights)
    assert all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    return str(refusal.value), remember


@pytest.mark.parametrize("value", [NAN, float("inf"), -float("inf")])
@pytest.mark.parametrize("optimizer", ["adam", "momentum", "lbfgs"])
def test_a_bad_input_is_told_with_its_row_and_nothing_moves(value: float, optimizer: str) -> None:
    data = spoil(toy_data(), "inputs", 13, value)
    sentence, remember = caught(toy_net(), data, optimizer=optimizer)
    state = remember.state
    assert state.batch is not None
    rows = state.batch.rows.tolist()
    assert 13 in rows
    number = state.position  # in the first epoch the batch is also the step
    assert sentence.startswith(
        f"not a finite number at step {number}, epoch 1, batch {number} (rows {rows} ...): "
        "the inputs of row 13 hold it; the learning rate is "
    )


def test_a_bad_target_is_told_with_its_row() -> None:
    sentence, _ = caught(toy_net(), spoil(toy_data("real"), "targets", 4, NAN), task=plain())
    assert "the targets of row 4 hold it" in sentence


def plain() -> Regression:
    return Regression.plain(3)


def test_a_gradient_alone_is_enough() -> None:
    data = spoil(toy_data("real"), "inputs", 7, 0.0)
    sentence, remember = caught(Root(), data, task=plain(), lr=1e-3, optimizer="sgd")
    assert remember.state.loss.isfinite()
    assert "the loss is finite, the gradient of 'inner.weight' is not" in sentence


def test_what_a_model_does_between_its_layers_is_seen() -> None:
    sentence, _ = caught(Logarithm(), toy_data("real"), task=plain())
    assert "layer 'model' puts it out" in sentence


def test_an_infinite_loss_of_finite_outputs_is_seen() -> None:
    data = spoil(toy_data("real"), "targets", 2, 1e30)  # its square is too large for float32
    sentence, _ = caught(toy_net(), data, task=plain())
    assert "outputs are finite, the loss is not" in sentence


def test_a_learning_rate_that_explodes_is_caught_and_told() -> None:
    sentence, remember = caught(toy_net(), toy_data("real"), optimizer="sgd", lr=1e15)
    assert remember.state.step >= 1  # the first update was large, and finite
    assert re.search(r"layer '\d' puts it out|the loss is not", sentence)
    assert sentence.endswith("the learning rate is 1e+15, a smaller one often helps")


def test_the_innermost_layer_is_named_and_all_hooks_are_taken_off() -> None:
    class Blow(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 0

    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), Blow()), nn.Linear(3, 3))
    sentence, _ = caught(model, toy_data())
    assert "layer '1.1' puts it out" in sentence
    assert not any(part._forward_hooks for part in model.modules())


def test_later_steps_and_epochs_are_counted() -> None:
    class Poison(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == 6:  # 5 steps an epoch
                data.train.inputs[:] = NAN

    data = toy_data(val=0)
    with pytest.raises(RunError, match="not a finite number at step 7, epoch 2, batch 2 "):
        toy_fit(toy_net(), data, callbacks=[GuardNonFinite(), Poison()])


def test_gradients_added_up_over_batches_are_looked_at() -> None:
    sentence, _ = caught(toy_net(), spoil(toy_data(), "inputs", 13, NAN), accumulate=5)
    assert "step 1, epoch 1, batch 5" in sentence


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "lbfgs"])
@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_a_healthy_run_is_not_touched(target: Any, optimizer: str) -> None:
    watched, alone = (toy_net(dropout=0.3, batch_norm=True) for _ in range(2))
    settings: dict[str, Any] = {"optimizer": optimizer, "epochs": 1}
    toy_fit(watched, toy_data(target), callbacks=[GuardNonFinite()], **settings)
    toy_fit(alone, toy_data(target), **settings)
    assert_same(copy_of(watched), copy_of(alone))


def test_large_gradients_are_no_alarm_although_their_squares_are_infinite() -> None:
    data = toy_data("real", val=0)
    huge = replace(data, train=replace(data.train, targets=data.train.targets * 1e17))
    settings = {"task": plain(), "optimizer": "sgd", "lr": 1e-20, "epochs": 1}
    norms: list[Tensor] = []

    class Norms(Callback):
        def on_before_update(self, state: TrainState) -> None:
            for parameter in state.model.parameters():
                assert parameter.grad is not None
                parameter.grad.mul_(1e5)
                norms.append(parameter.grad.norm())

    toy_fit(toy_net(), huge, callbacks=[Norms(), GuardNonFinite()], **settings)
    assert any(bool(norm.isinf()) for norm in norms)


def on_an_accelerator(losses: Callable[[int], float]) -> int:
    """The step at which a run on a device that must not be waited for is stopped; 0 for never."""
    state, watch = toy_start(), GuardNonFinite()
    state.device = torch.device("cuda")
    for step in range(3 * LOOK_EVERY):
        state.step, state.loss = step, torch.tensor(losses(step))
        try:
            watch.on_before_update(state)
        except RunError:
            return step
    return 0


def test_on_an_accelerator_a_bad_loss_is_seen_at_the_next_look() -> None:
    assert on_an_accelerator(lambda step: NAN if step == 3 else 1.0) == LOOK_EVERY - 1
    assert on_an_accelerator(lambda step: NAN if step == LOOK_EVERY else 1.0) == 2 * LOOK_EVERY - 1
    assert on_an_accelerator(lambda step: 1.0) == 0
