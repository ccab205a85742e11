"""The kernel called directly leaves the bits of `Optimizer.step`, to which all else is left."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from netwright.optimizers import eager
from netwright.train.updates.direct_step import step_directly
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net, toy_trainer

Make = Callable[..., torch.optim.Optimizer]


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def optimizer_of(model: nn.Sequential, make: Make, **settings: Any) -> torch.optim.Optimizer:
    groups = [
        {"params": list(model[0].parameters())},
        {"params": list(model[2].parameters()), "weight_decay": 0.3, "lr": 0.5},
    ]
    return make(groups, **{"lr": 0.01, "fused": True, **settings})


def give_gradients(model: nn.Module, step: int) -> None:
    drawn = torch.Generator().manual_seed(step)
    for weight in model.parameters():
        weight.grad = torch.randn(weight.shape, generator=drawn)


@for_each(
    ("make", "settings"),
    [
        (torch.optim.Adam, {}),
        (torch.optim.Adam, {"weight_decay": 0.1, "maximize": True}),
        (torch.optim.Adam, {"betas": (0.5, 0.7), "eps": 0.1}),
        (torch.optim.Adam, {"decoupled_weight_decay": True}),
        (torch.optim.AdamW, {"weight_decay": 0.1}),
    ],
)
def test_weights_and_moments_have_the_bits_of_the_usual_step(
    make: Make, settings: dict[str, Any]
) -> None:
    ours = network()
    theirs = copy.deepcopy(ours)
    direct, usual = (optimizer_of(model, make, **settings) for model in (ours, theirs))
    for step in range(6):
        give_gradients(ours, step)
        give_gradients(theirs, step)
        if step == 3:  # a weight that has no part in the loss stays, and so do its moments
            ours[0].bias.grad = theirs[0].bias.grad = None
        if not step_directly(direct):
            assert step == 0  # moments are begun by torch
            direct.step()
        usual.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)
        for name, kept in usual.state[other].items():
            assert torch.equal(direct.state[one][name], kept), name


def hooked(optimizer: torch.optim.Optimizer) -> None:
    optimizer.register_step_post_hook(lambda *_: None)


def told_to_leave_steps_out(optimizer: torch.optim.Optimizer) -> None:
    optimizer.found_inf = torch.ones(())  # type: ignore[attr-defined]


def with_tensor_rate(optimizer: torch.optim.Optimizer) -> None:
    optimizer.param_groups[1]["lr"] = torch.tensor(0.1)


def without_moments(optimizer: torch.optim.Optimizer) -> None:
    optimizer.state.pop(optimizer.param_groups[1]["params"][0])


def with_sparse_gradient(optimizer: torch.optim.Optimizer) -> None:
    weight = optimizer.param_groups[1]["params"][0]
    weight.grad = weight.grad.to_sparse()


@for_each(
    ("settings", "change"),
    [
        ({}, hooked),
        ({}, told_to_leave_steps_out),
        ({}, with_tensor_rate),
        ({}, without_moments),
        ({}, with_sparse_gradient),
        ({"amsgrad": True}, None),
        ({"fused": False}, None),
    ],
)
def test_what_is_not_plain_is_left_to_torch_and_nothing_moves(
    settings: dict[str, Any], change: Callable[[torch.optim.Optimizer], None] | None
) -> None:
    model = network()
    optimizer = optimizer_of(model, torch.optim.Adam, **settings)
    give_gradients(model, 0)
    optimizer.step()
    if change is not None:
        change(optimizer)
    before = [weight.detach().clone() for weight in model.parameters()]
    assert not step_directly(optimizer)
    for weight, kept in zip(model.parameters(), before, strict=True):
        assert torch.equal(weight, kept)


def test_another_class_of_optimizer_takes_its_own_step() -> None:
    class Own(torch.optim.Adam):
        pass

    model = network()
    optimizer = optimizer_of(model, Own)
    give_gradients(model, 0)
    optimizer.step()
    give_gradients(model, 1)
    assert not step_directly(optimizer)


@for_each("was_on", [True, False])
def test_slopes_are_recorded_as_before_also_where_the_kernel_fails(was_on: bool) -> None:
    model = network()
    optimizer = optimizer_of(model, torch.optim.Adam)
    give_gradients(model, 0)
    optimizer.step()
    give_gradients(model, 1)
    with torch.set_grad_enabled(was_on):
        assert step_directly(optimizer)
        assert torch.is_grad_enabled() == was_on
        optimizer.param_groups[1]["eps"] = "a text"
        with pytest.raises(TypeError):
            step_directly(optimizer)
        assert torch.is_grad_enabled() == was_on


def test_training_calls_the_usual_step_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    usual = eager.Adam.step

    def counted(self: eager.Adam, *given: Any) -> Any:
        calls.append(1)
        return usual(self, *given)

    monkeypatch.setattr(eager.Adam, "step", counted)
    data = toy_data()
    trainer = toy_trainer(data, epochs=2, optimizer="adam", kernel="fused")
    state = trainer.start(toy_net(), data)
    trainer.fit(state, data)
    assert len(calls) == 1 < state.step


def test_a_schedule_knows_of_a_step_of_a_run_that_goes_on() -> None:
    model = network()
    first = optimizer_of(model, torch.optim.Adam)
    give_gradients(model, 0)
    first.step()
    resumed = optimizer_of(model, torch.optim.Adam)
    schedule = torch.optim.lr_scheduler.ExponentialLR(resumed, 0.5)
    resumed.load_state_dict(first.state_dict())
    for step in (1, 2):
        give_gradients(model, step)
        assert step_directly(resumed)
        schedule.step()  # it warns where it knows of none, and a warning is an error
