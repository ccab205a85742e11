"""What may be captured: nothing of a caller's own, and nothing that Python does between kernels."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.adapted_module import AdaptedModule
from netwright.train.callback import EVENTS, Callback, FunctionCallback
from netwright.train.callbacks.clip_gradients import ClipGradients
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.weight_noise import WeightNoise
from netwright.train.own.loss import OwnLoss
from netwright.train.state import TrainState
from netwright.train.updates.capture_rules import may_repeat, reason_against
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net


def reason(model: nn.Module, *callbacks: Callback, **given: Any) -> str:
    optimizer = given.pop("optimizer", torch.optim.SGD(model.parameters()))
    return reason_against(model, optimizer, callbacks, **given)


class Counts(nn.Linear):
    """A caller's own layer."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)


class Reloads(Callback):
    """A caller's own callback: what it does to the run, nobody knows."""

    def on_epoch_end(self, state: TrainState) -> None:
        """Nothing, here."""


def test_layers_of_torch_and_callbacks_of_ours_may_be_captured() -> None:
    assert reason(toy_net(), ClipGradients(norm=1.0), Doctor()) == ""
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    assert reason(nn.Sequential(normed)) == ""
    assert reason(toy_net(), loss=OwnLoss(nn.CrossEntropyLoss())) == ""


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(2, 2), Counts(2, 2)),
        AdaptedModule(Counts(2, 2)),  # it has the children of the module, not the module
        nn.Sequential(nn.utils.parametrizations.weight_norm(Counts(2, 2))),
    ],
    ids=["inside", "adapted", "parametrized"],
)
def test_a_module_of_the_callers_own_may_not(module: nn.Module) -> None:
    assert "Counts may do more in Python" in reason(module)


def nothing(*_: Any) -> None:
    """A hook."""


HOOKS: dict[str, Callable[[Any], Any]] = {
    "forward": lambda layer: layer.register_forward_hook(nothing),
    "before forward": lambda layer: layer.register_forward_pre_hook(nothing),
    "backward": lambda layer: layer.register_full_backward_hook(nothing),
    "before backward": lambda layer: layer.register_full_backward_pre_hook(nothing),
    "gradient": lambda layer: layer.weight.register_hook(nothing),
    "gradient is there": lambda layer: layer.weight.register_post_accumulate_grad_hook(nothing),
    "replaced": lambda layer: setattr(layer, "forward", nothing),
}


@for_each("kind", HOOKS)
def test_a_layer_with_a_hook_may_not(kind: str) -> None:
    layer = nn.Linear(2, 2)
    assert reason(nn.Sequential(layer)) == ""
    HOOKS[kind](layer)
    assert "Linear may do more in Python" in reason(nn.Sequential(layer))


def test_an_optimizer_with_hooks_may_not() -> None:
    net = toy_net()
    for register in ("register_step_pre_hook", "register_step_post_hook"):
        optimizer = torch.optim.AdamW(net.parameters())
        getattr(optimizer, register)(nothing)
        assert reason(net, optimizer=optimizer) == "the optimizer has hooks"


def test_a_loss_of_the_callers_own_may_not() -> None:
    annealed = OwnLoss(lambda output, targets: output.mean(), "annealed")
    assert "the loss annealed may do more" in reason(toy_net(), loss=annealed)


def test_a_callback_that_changes_more_than_the_batch_may_not() -> None:
    noise = WeightNoise(0.1, seed=0)
    assert reason(toy_net(), noise) == "WeightNoise has a part in each batch"


def test_callbacks_of_the_callers_own_may_not_unless_they_are_trusted() -> None:
    assert "Reloads is a callback of your own" in reason(toy_net(), Reloads())
    assert reason(toy_net(), Reloads(), trusts_callbacks=True) == ""


@for_each("event", EVENTS)
def test_functions_at_any_event_may_not_unless_they_are_trusted(event: str) -> None:
    call = FunctionCallback(event, nothing)
    assert f"the function at {event} " in reason(toy_net(), call)
    has_a_part = event in {"on_batch_start", "on_before_update"}
    assert bool(reason(toy_net(), call, trusts_callbacks=True)) == has_a_part


class SeesSteps(Callback):
    """A caller's own callback that is told of every update."""

    def on_step_end(self, state: TrainState) -> None:
        """Nothing, here."""


@for_each(
    ("callback", "may"),
    [
        (Doctor(), True),
        (Reloads(), True),
        (SeesSteps(), False),
        (FunctionCallback("on_batch_end", nothing), False),
        (FunctionCallback("on_epoch_end", nothing), True),
    ],
)
def test_batches_that_a_caller_sees_one_by_one_are_not_taken_again(
    callback: Callback, may: bool
) -> None:
    assert repeats(toy_net(), ClipGradients(norm=1.0), callback) == may


def repeats(model: nn.Module, *callbacks: Callback, loss: OwnLoss | None = None) -> bool:
    optimizer = torch.optim.SGD(model.parameters())
    return may_repeat(toy_data().train, model, optimizer, callbacks, loss)


def test_batches_of_a_model_or_loss_of_the_callers_own_are_not_taken_again() -> None:
    assert repeats(toy_net(), loss=OwnLoss(nn.CrossEntropyLoss()))
    assert not repeats(nn.Sequential(Counts(2, 2)))
    assert not repeats(AdaptedModule(Counts(2, 2)))
    assert not repeats(toy_net(), loss=OwnLoss(lambda output, targets: output.mean(), "own"))


@for_each("kind", HOOKS)
def test_nor_are_those_that_hooks_see(kind: str) -> None:
    layer = nn.Linear(2, 2)
    assert repeats(layer)
    HOOKS[kind](layer)
    assert not repeats(layer)


def test_nor_are_those_that_hooks_of_the_optimizer_see() -> None:
    net = toy_net()
    optimizer = torch.optim.SGD(net.parameters())
    assert may_repeat(toy_data().train, net, optimizer, [])
    optimizer.register_step_post_hook(nothing)
    assert not may_repeat(toy_data().train, net, optimizer, [])
