"""Several optimizers as one: the same steps as each alone, one state, one schedule."""

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import ExponentialLR

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.saving.state_kinds import check_memory
from tests.train.toy_runs import assert_same


def parts() -> tuple[nn.Linear, nn.Linear]:
    with seeded(0):
        return nn.Linear(2, 3), nn.Linear(2, 1)


def group(first: nn.Linear, second: nn.Linear) -> OptimizerGroup:
    fast: list[dict[str, Any]] = [{"params": [second.weight], "lr": 0.5}, {"params": [second.bias]}]
    return OptimizerGroup(
        {"first": Adam(first.parameters(), lr=0.1), "second": SGD(fast, lr=0.2, momentum=0.9)}
    )


def pull(*modules: nn.Linear) -> None:
    for module in modules:
        module(torch.ones(4, 2)).square().sum().backward()


def test_each_moves_its_own_as_it_would_alone() -> None:
    both, alone = parts(), parts()
    together = group(*both)
    apart = group(*alone).members
    for _ in range(3):
        together.zero_grad()
        pull(*both, *(part.zero_grad() or part for part in alone))  # type: ignore[func-returns-value]
        together.step()
        apart["second"].step()
        apart["first"].step()
    for one, other in zip(both, alone, strict=True):
        assert_same(dict(one.state_dict()), dict(other.state_dict()))


def test_the_state_is_that_of_one_optimizer_and_goes_back_to_every_member() -> None:
    both = parts()
    together = group(*both)
    pull(*both)
    together.step()
    saved = copy.deepcopy(together.state_dict())
    assert [one["params"] for one in saved["param_groups"]] == [[0, 1], [2], [3]]
    weights = [w for one in together.param_groups for w in one["params"]]
    check_memory(saved, weights)
    again = parts()
    for part, other in zip(again, both, strict=True):
        part.load_state_dict(other.state_dict())
    fresh = group(*again)
    fresh.load_state_dict(saved)
    for one in (together, fresh):
        one.zero_grad()
    pull(*both, *again)
    for name in ("second", "first"):
        together.members[name].step()
        fresh.members[name].step()
    for part, other in zip(again, both, strict=True):
        assert_same(dict(part.state_dict()), dict(other.state_dict()))
    assert_same(fresh.state_dict(), together.state_dict())


def test_a_schedule_moves_the_rates_of_all_also_after_a_state_was_loaded() -> None:
    together = group(*parts())
    together.load_state_dict(together.state_dict())
    schedule = ExponentialLR(together, 0.5)
    together.step()
    schedule.step()
    rates = [one["lr"] for member in together.members.values() for one in member.param_groups]
    assert rates == [0.05, 0.25, 0.1]


def test_who_moves_a_weight_is_known_and_nobody_moves_it_twice() -> None:
    first, second = parts()
    together = group(first, second)
    assert together.owner(second.bias) is together.members["second"]
    with pytest.raises(ConfigError, match="a parameter is in two of the optimizers a and b"):
        OptimizerGroup({"a": SGD(first.parameters(), lr=1), "b": SGD([first.bias], lr=1)})
