"""A schedule of one's own: a function of the optimizer that gives one of torch's schedulers.

schedule=partial(StepLR, step_size=10)                    a step each epoch, as torch's docs have it
schedule=partial(OneCycleLR, max_lr=0.1, total_steps=900) a step each update, as that one wants
schedule=(get_linear_schedule, "update")                  said by hand
schedule=ReduceLROnPlateau                                each epoch, told the monitored measure
"""

import copy
from collections.abc import Callable
from typing import Any, Literal, get_args

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CyclicLR, LRScheduler, OneCycleLR, ReduceLROnPlateau

from netwright.core.errors import ConfigError
from netwright.train.own.names import name_of

Unit = Literal["epoch", "update"]
ScheduleMaker = Callable[[Optimizer], LRScheduler] | LRScheduler
BY_UPDATE = (OneCycleLR, CyclicLR)  # torch: "should be called after every batch"


class OwnSchedule:
    """One of torch's schedulers, stepped after updates or after epochs.

    Args:
        scheduler: the caller's.
        unit: after which it takes a step.
    """

    def __init__(self, scheduler: LRScheduler, unit: Unit) -> None:
        self.scheduler, self.unit = scheduler, unit

    @property
    def last_epoch(self) -> int:
        """Steps that it has taken, as torch calls them."""
        return self.scheduler.last_epoch

    def step(self) -> None:
        """An update is made."""
        if self.unit == "update":
            self.scheduler.step()

    def end_epoch(self, measured: float) -> None:
        """A pass is made, with this value of the monitored measure."""
        if isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step(measured)
        elif self.unit == "epoch":
            self.scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        """That of the scheduler, which may change what it gives in place."""
        return copy.deepcopy(dict(self.scheduler.state_dict()))

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.scheduler.load_state_dict(values)


def check_own_schedule(given: Any) -> None:
    """Refuse what makes no scheduler."""
    make, _ = _parted(given)
    if not isinstance(make, LRScheduler) and not callable(make):
        raise ConfigError(
            "schedule must be a name, or a function of the optimizer that returns a scheduler, got "
            f"{type(make).__name__}"
        )


def build_own_schedule(given: Any, optimizer: Optimizer) -> OwnSchedule:
    """The caller's schedule of an optimizer."""
    make, unit = _parted(given)
    if isinstance(make, LRScheduler):
        if make.optimizer is not optimizer:
            raise ConfigError(
                f"{type(make).__name__} is of another optimizer: give the one that it was built "
                "with as optimizer, or a function of the optimizer as schedule"
            )
        scheduler = make
    else:
        try:
            scheduler = make(optimizer)
        except (TypeError, ValueError, KeyError) as error:
            raise ConfigError(f"the schedule {name_of(make)} cannot be built: {error}") from None
    if not isinstance(scheduler, LRScheduler):
        kind = type(scheduler).__name__
        raise ConfigError(f"{name_of(make)} must return one of torch's schedulers, got {kind}")
    usual: Unit = "update" if isinstance(scheduler, BY_UPDATE) else "epoch"
    return OwnSchedule(scheduler, unit or usual)


def _parted(given: Any) -> tuple[Any, Unit | None]:
    """What makes the scheduler, and the unit where it is said."""
    if not isinstance(given, tuple):
        return given, None
    if len(given) != 2 or given[1] not in get_args(Unit):
        raise ConfigError(
            f"schedule must be a pair of a function and 'epoch' or 'update', got {given!r:.60}"
        )
    return given
