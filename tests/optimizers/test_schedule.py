"""The moments of a run: shares of the way, and the warm-up before every shape."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.card import Card
from netwright.optimizers.schedule import FactorRates, Moment, NoOptions, Schedule
from tests.repetition import for_each

CARD = Card(sentence="Twice the rate.", formula="2", source="here")
TWICE = Schedule(shape=lambda given, at: 2.0, card=CARD)


def test_progress_is_the_share_from_the_warm_up_to_the_end() -> None:
    assert [Moment(step, 8, warmup=4).progress for step in (4, 5, 6, 8, 99)] == [0, 0.25, 0.5, 1, 1]
    assert Moment(0, 0).progress == 0.0
    assert Moment(3, 3, warmup=3).progress == 0.0


def test_the_shape_begins_where_the_warm_up_ends() -> None:
    factors = [TWICE.factor(NoOptions(), Moment(step, 8, warmup=4)) for step in range(6)]
    assert factors == [0.25, 0.5, 0.75, 1.0, 2.0, 2.0]


def test_it_builds_an_ordinary_scheduler_of_torch() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    scheduler = TWICE.build(optimizer, NoOptions(), Moment(0, 8, warmup=1))
    assert isinstance(scheduler, torch.optim.lr_scheduler.LambdaLR)
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.2])


def factor_of(step: int) -> float:
    return 0.3 + 0.7 / (1 + step)


@for_each("kind", [float, torch.tensor])
def test_rates_and_state_are_those_of_torch(kind: Callable[[float], Any]) -> None:
    weights = [nn.Parameter(torch.zeros(1)) for _ in range(2)]
    ours, theirs = (
        torch.optim.SGD(
            [{"params": [one], "lr": kind(lr)} for one, lr in zip(weights, (0.1, 3.0), strict=True)]
        )
        for _ in range(2)
    )
    quick, usual = FactorRates(ours, factor_of), LambdaLR(theirs, factor_of)
    for _ in range(6):
        for optimizer, scheduler in ((ours, quick), (theirs, usual)):
            optimizer.step()
            scheduler.step()
        for mine, other in zip(ours.param_groups, theirs.param_groups, strict=True):
            assert type(mine["lr"]) is type(other["lr"]) and mine["lr"] == other["lr"]
        assert quick.get_last_lr() == usual.get_last_lr()
        told, wanted = quick.state_dict(), usual.state_dict()
        assert told.keys() == wanted.keys()
        assert all(told[name] == wanted[name] for name in told.keys() - {"lr_lambdas"})


def test_a_step_before_the_optimizers_is_warned_of_as_torch_does() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        FactorRates(optimizer, factor_of).step()
