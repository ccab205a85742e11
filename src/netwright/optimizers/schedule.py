"""A named schedule: what the learning rate is multiplied by at each moment of a run.

Every schedule can be warmed up: over the first steps the rate rises in equal parts to its full
size, and the shape begins after them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.card import Card
from netwright.core.config import Config

FIRST_STEPS = 2  # after which torch no longer looks for the order of steps


class Moment(NamedTuple):
    """Where a run is.

    Args:
        step: updates made.
        steps: updates of the whole run.
        steps_per_epoch: updates of a pass over the data.
        warmup: updates over which the rate rises.
        drops: how often a plateau has lowered the rate.
    """

    step: int
    steps: int
    steps_per_epoch: int = 1
    warmup: int = 0
    drops: int = 0

    @property
    def progress(self) -> float:
        """The share of the way from the warm-up to the run's end, in [0, 1]."""
        return min(1.0, (self.step - self.warmup) / max(1, self.steps - self.warmup))


@dataclass(frozen=True, kw_only=True)
class NoOptions(Config):
    """A schedule that has nothing to set."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A row's part in the catalog of schedules.

    Args:
        shape: (settings, moment) -> factor of the learning rate, after the warm-up.
        settings: what may be set.
        depends_on_length: a longer run has other rates from the first step on.
        card: sentence, formula, symbols, source.
    """

    shape: Callable[[Any, Moment], float]
    settings: type[Config] = NoOptions
    depends_on_length: bool = True
    card: Card

    def factor(self, given: Any, at: Moment) -> float:
        """The factor of the learning rate; it rises from 1/warmup to 1 during the warm-up."""
        if at.step < at.warmup:
            return (at.step + 1) / at.warmup
        return self.shape(given, at)

    def build(self, optimizer: torch.optim.Optimizer, given: Any, start: Moment) -> LambdaLR:
        """A torch scheduler that sets the rate by the step alone."""
        return FactorRates(optimizer, lambda step: self.factor(given, Moment(step, *start[1:])))


class FactorRates(LambdaLR):
    """`LambdaLR` whose steps set the rates and do nothing else.

    Torch's own look each time for rates that are tensors, for the order of steps and for who asks.
    The first two, by which torch knows the order, and rates that are tensors are left to it.
    """

    def step(self, epoch: int | None = None) -> None:
        """See `LambdaLR.step`."""
        groups = self.optimizer.param_groups
        is_plain = all(isinstance(group["lr"], float) for group in groups)
        if epoch is not None or self._step_count < FIRST_STEPS or not is_plain:
            super().step(epoch)
            return
        self._step_count += 1
        self.last_epoch += 1
        for group, base, factor in zip(groups, self.base_lrs, self.lr_lambdas, strict=True):
            group["lr"] = base * factor(self.last_epoch)
        self._last_lr = [group["lr"] for group in groups]
