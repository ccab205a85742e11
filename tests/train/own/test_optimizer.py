"""Optimizers of one's own, in each form; what cannot train the module is refused."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import LBFGS, SGD, Adam, Optimizer

from netwright.core.errors import ConfigError
from netwright.train.own.optimizer import (
    build_own_optimizer,
    check_own_optimizer,
    first_rate,
    given_settings,
)
from netwright.train.own.optimizer_group import OptimizerGroup
from tests.repetition import for_each
from tests.train.toy_runs import toy_net


def two(net: nn.Module) -> list[dict[str, Any]]:
    first, *rest = net.parameters()
    return [{"params": [first], "lr": 0.5}, {"params": rest}]


@pytest.mark.parametrize(
    "given",
    [
        SGD,
        partial(SGD, momentum=0.9),
        lambda parameters, lr: SGD(list(parameters), lr=lr),
    ],
    ids=["class", "partial", "function"],
)
def test_what_makes_one_is_given_the_parameters_and_what_was_said(given: Any) -> None:
    net = toy_net()
    optimizer = build_own_optimizer(given, net, given_settings(0.3, 0.0, {}))
    assert optimizer.param_groups[0]["params"] == list(net.parameters())
    assert first_rate(optimizer) == 0.3
    grouped = build_own_optimizer(given, net, {"lr": 0.3}, two)
    assert [group["lr"] for group in grouped.param_groups] == [0.5, 0.3]


def test_only_what_was_said_is_given() -> None:
    assert given_settings(None, 0.0, {}) == {}
    assert given_settings(0.1, 0.2, {"eps": 1}) == {"lr": 0.1, "weight_decay": 0.2, "eps": 1}


def test_an_instance_is_taken_as_it_is_with_the_rate_it_was_built_with() -> None:
    net = toy_net()
    own = SGD(net.parameters(), lr=0.3)
    own.param_groups[0] |= {"initial_lr": 0.3, "lr": 0.01}  # a schedule was tried with it
    assert build_own_optimizer(own, net, {}) is own
    assert first_rate(own) == 0.3
    with pytest.raises(ConfigError, match="lr is that of the optimizer that you built: remove lr"):
        build_own_optimizer(own, net, {"lr": 0.1})


def test_one_for_each_child_by_name() -> None:
    net = nn.ModuleDict({"a": nn.Linear(1, 2), "b": nn.Linear(2, 1)})
    group = build_own_optimizer({"a": Adam, "b": partial(SGD, lr=0.5)}, net, {})
    assert isinstance(group, OptimizerGroup)
    assert group.members["b"].param_groups[0]["params"] == list(net["b"].parameters())
    with pytest.raises(ConfigError, match="optimizer 'c' is for no child of the module; there are"):
        build_own_optimizer({"c": Adam}, net, {})
    with pytest.raises(ConfigError, match="parameter_groups is for one optimizer"):
        build_own_optimizer({"a": Adam}, net, {}, two)


class Rateless(Optimizer):
    def __init__(self, params: Any) -> None:
        super().__init__(params, {})

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        pass


@for_each(
    ("given", "sentence"),
    [
        (LBFGS, "LBFGS asks for the loss again within a step"),
        (partial(SGD, lr=-1.0), r"the optimizer SGD\(lr=-1.0\) cannot be built: Invalid learning"),
        (lambda parameters: 3, "must return a torch optimizer, got int"),
        (Rateless, "Rateless has no learning rate 'lr'"),
        (lambda _: SGD([torch.ones(1)], lr=1), "SGD has 1 parameters that are not the model's"),
    ],
)
def test_what_cannot_train_it_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build_own_optimizer(given, toy_net(), {})


def test_groups_must_be_a_list_and_something_must_learn() -> None:
    with pytest.raises(ConfigError, match="must return a list of parameters or of dicts"):
        build_own_optimizer(SGD, toy_net(), {}, lambda net: {"params": []})  # type: ignore[arg-type,return-value]
    with pytest.raises(ConfigError, match="the model has no parameters to learn"):
        build_own_optimizer(SGD, toy_net().requires_grad_(False), {})


def test_what_makes_none_is_refused_before() -> None:
    for given in (3, {"a": 3}):
        with pytest.raises(ConfigError, match="or an optimizer, got int"):
            check_own_optimizer(given)
    with pytest.raises(ConfigError, match="at least one child of the module, got none"):
        check_own_optimizer({})
