"""Schedules of one's own: a step after each epoch or update, and their state."""

from functools import partial
from typing import Any

import pytest
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import ExponentialLR, LambdaLR, OneCycleLR, ReduceLROnPlateau

from netwright.core.errors import ConfigError
from netwright.train.own.schedule import build_own_schedule, check_own_schedule


def optimizer(lr: float = 1.0) -> SGD:
    return SGD([torch.ones(1, requires_grad=True)], lr=lr)


def rates(given: Any, *events: str) -> list[float]:
    """The rate after each event."""
    own = optimizer()
    schedule = build_own_schedule(given, own)
    found = []
    for event in events:
        own.step()
        schedule.step() if event == "update" else schedule.end_epoch(1.0)
        found.append(own.param_groups[0]["lr"])
    return found


HALVES = partial(ExponentialLR, gamma=0.5)


def test_torchs_schedulers_step_after_epochs_unless_it_is_said() -> None:
    assert rates(HALVES, "update", "update", "epoch") == [1.0, 1.0, 0.5]
    assert rates((HALVES, "update"), "update", "update", "epoch") == [0.5, 0.25, 0.25]


def test_one_cycle_steps_after_updates_as_it_is_made_for() -> None:
    first, second, _ = rates(partial(OneCycleLR, max_lr=1.0, total_steps=9), *["update"] * 3)
    assert first < second


def test_a_plateau_is_told_the_measure() -> None:
    flat = partial(ReduceLROnPlateau, patience=0, factor=0.1)
    assert rates(flat, "epoch", "update", "epoch") == [1.0, 1.0, 0.1]


def test_an_instance_is_of_the_optimizer_that_it_was_built_with() -> None:
    own = optimizer()
    built = ExponentialLR(own, 0.5)
    assert build_own_schedule(built, own).scheduler is built
    with pytest.raises(ConfigError, match="ExponentialLR is of another optimizer"):
        build_own_schedule(built, optimizer())


def test_its_state_goes_on() -> None:
    own, other = optimizer(), optimizer()
    schedule, again = build_own_schedule(HALVES, own), build_own_schedule(HALVES, other)
    own.step()
    schedule.end_epoch(0.0)
    other.load_state_dict(own.state_dict())
    again.load_state_dict(schedule.state_dict())
    other.step()
    again.end_epoch(0.0)
    assert other.param_groups[0]["lr"] == 0.25
    assert again.last_epoch == 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (LambdaLR, "the schedule LambdaLR cannot be built"),
        (lambda own: 3, "must return one of torch's schedulers, got int"),
    ],
)
def test_what_gives_no_scheduler_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build_own_schedule(given, optimizer())


def test_what_is_no_schedule_is_refused_before() -> None:
    with pytest.raises(ConfigError, match="a function of the optimizer that returns a scheduler"):
        check_own_schedule(3)
    with pytest.raises(ConfigError, match="a pair of a function and 'epoch' or 'update'"):
        check_own_schedule((HALVES, "batch"))


def test_its_state_is_a_copy_that_later_steps_do_not_change() -> None:
    class Notes(ExponentialLR):
        """One that changes what it holds in place."""

        def __init__(self, own: SGD) -> None:
            self.seen: list[int] = []
            super().__init__(own, gamma=0.5)

        def step(self, epoch: int | None = None) -> None:
            super().step(epoch)
            self.seen.append(self.last_epoch)

    own = optimizer()
    schedule = build_own_schedule((Notes, "update"), own)
    own.step()
    schedule.step()
    before = schedule.state_dict()
    schedule.step()
    assert before["seen"] == [0, 1]
    schedule.load_state_dict(before)
    assert schedule.last_epoch == 1
