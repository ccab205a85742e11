"""Torch's optimizers without the compiler's import: the same steps, states and refusals."""

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import nn

from netwright.optimizers import eager
from netwright.optimizers.eager import EagerOptimizer, torch_kind
from tests.repetition import for_each

KINDS: list[tuple[type[torch.optim.Optimizer], dict[str, Any]]] = [
    (eager.SGD, {"lr": 0.1, "momentum": 0.9, "fused": True}),
    (eager.Adagrad, {"lr": 0.1, "foreach": True}),
    (eager.Adadelta, {"lr": 1.0}),
    (eager.RMSprop, {"lr": 0.01}),
    (eager.Adam, {"lr": 0.01, "fused": True}),
    (eager.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    (eager.NAdam, {"lr": 0.01}),
    (eager.LBFGS, {"lr": 1.0, "line_search_fn": "strong_wolfe"}),
]


def _trained(
    kind: type[torch.optim.Optimizer], settings: dict[str, Any], steps: int = 4
) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = kind(model.parameters(), **settings)
    _take(model, optimizer, steps)
    return model, optimizer


def _take(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    inputs = torch.arange(12.0).reshape(4, 3) / 10

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value: torch.Tensor = model(inputs).square().mean()
        torch.autograd.backward(value)
        return value

    for _ in range(steps):
        optimizer.step(loss)  # type: ignore[arg-type]  # what LBFGS takes


@for_each(("kind", "settings"), KINDS)
def test_steps_have_the_bits_of_torchs_own_class(
    kind: type[torch.optim.Optimizer], settings: dict[str, Any]
) -> None:
    ours, optimizer = _trained(kind, settings)
    theirs, _ = _trained(torch_kind(optimizer), settings)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)


@for_each(("kind", "settings"), KINDS)
def test_states_go_from_one_to_the_other_and_back(
    kind: type[torch.optim.Optimizer], settings: dict[str, Any]
) -> None:
    model, optimizer = _trained(kind, settings)
    twin = copy.deepcopy(model)
    theirs = torch_kind(optimizer)(twin.parameters(), **settings)
    theirs.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    _take(model, optimizer, 2)
    _take(twin, theirs, 2)
    assert all(map(torch.equal, model.parameters(), twin.parameters()))
    again = kind(twin.parameters(), **settings)
    again.load_state_dict(theirs.state_dict())
    assert again.state_dict().keys() == optimizer.state_dict().keys()


def test_an_optimizer_of_ours_can_be_copied_and_pickled() -> None:
    _, optimizer = _trained(eager.Adam, {"lr": 0.01})
    for again in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert type(again) is eager.Adam
        assert again.param_groups[0]["lr"] == 0.01


def test_a_step_leaves_no_graph_and_gradients_stay_on() -> None:
    model, _ = _trained(eager.Adam, {"lr": 0.01}, steps=1)
    assert torch.is_grad_enabled()
    assert all(weight.is_leaf and weight.requires_grad for weight in model.parameters())


def test_a_parameter_in_two_groups_is_refused_as_torch_does() -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimizer = eager.SGD([weight], lr=0.1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [weight]})


def test_the_kind_of_a_class_of_ones_own_is_that_class() -> None:
    class Mine(EagerOptimizer):
        pass

    weights = [nn.Parameter(torch.zeros(2))]
    assert torch_kind(Mine(weights, {})) is Mine
    assert torch_kind(torch.optim.AdamW(weights)) is torch.optim.AdamW
    assert torch_kind(eager.AdamW(weights)) is torch.optim.AdamW
