"""The moments of a run: shares of the way, and the warm-up before every shape."""

import pytest
import torch
from torch import nn

from netwright.core.card import Card
from netwright.optimizers.schedule import Moment, NoOptions, Schedule

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
