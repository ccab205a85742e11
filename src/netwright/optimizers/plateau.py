"""A learning rate that is lowered where a measure no longer gets better.

A measure is better where it is below the best so far by more than a share of it; after more than
`patience` epochs without a better one the rate is multiplied by `factor`, and the count begins
again.

Source: He et al., "Deep Residual Learning for Image Recognition" (2016), section 3.4: the rate is
divided by 10 "when the error plateaus".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Interval
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.card import Card
from netwright.core.config import Config, Count, Doc, Fraction
from netwright.optimizers.schedule import Moment, Schedule

Drop = Annotated[float, Interval(gt=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class PlateauConfig(Config):
    """Settings of the plateau schedule."""

    factor: Annotated[Drop, Doc("factor of the learning rate on a plateau")] = 0.1
    patience: Annotated[Count, Doc("epochs without improvement before the rate is reduced")] = 5
    threshold: Annotated[
        Fraction, Doc("smallest relative change that counts as an improvement")
    ] = 1e-4
    floor: Annotated[Fraction, Doc("lowest learning rate, as a fraction of lr")] = 0.0


class PlateauRates(LambdaLR):
    """A torch scheduler that is shown a measure after every epoch; what it has seen is its state.

    Args:
        optimizer: whose rate moves.
        given: factor, patience, threshold, floor.
        factor: (step, drops so far) -> factor of the learning rate.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        given: PlateauConfig,
        factor: Callable[[int, int], float],
    ) -> None:
        self.patience, self.threshold = given.patience, given.threshold
        self.best: float | None = None
        self.bad_epochs = self.drops = 0
        super().__init__(optimizer, lambda step: factor(step, self.drops))

    def see(self, value: float) -> None:
        """Take note of the measure after an epoch, the smaller the better."""
        if self.best is None or value < self.best - self.threshold * abs(self.best):
            self.best, self.bad_epochs = value, 0
        else:
            self.bad_epochs += 1
        if self.bad_epochs > self.patience:
            self.drops, self.bad_epochs = self.drops + 1, 0
            self._lower()

    def _lower(self) -> None:
        """Set the rate of the very next step, which `step` has already planned."""
        factor = self.lr_lambdas[0](self.last_epoch)
        self._last_lr = [rate * factor for rate in self.base_lrs]
        for group, rate in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            group["lr"] = rate


def lowered(given: PlateauConfig, at: Moment) -> float:
    """factor^drops, but not below the floor."""
    return max(given.floor, given.factor**at.drops)


class PlateauSchedule(Schedule):
    """A schedule whose scheduler has to see a measure."""

    def build(self, optimizer: torch.optim.Optimizer, given: Any, start: Moment) -> PlateauRates:
        """A scheduler with `see`."""

        def factor(step: int, drops: int) -> float:
            return self.factor(given, start._replace(step=step, drops=drops))

        return PlateauRates(optimizer, given, factor)


PLATEAU = PlateauSchedule(
    shape=lowered,
    settings=PlateauConfig,
    depends_on_length=False,
    card=Card(
        sentence="The learning rate is divided by ten whenever the monitored metric stops "
        "improving.",
        formula=r"\eta_t = \eta \, \gamma^{k}",
        symbols={
            r"\eta": "the learning rate, `lr`",
            r"\eta_t": "the rate of step t",
            r"\gamma": "what a plateau leaves of it, `factor`",
            "k": "plateaus so far: more than `patience` epochs without a better measure",
        },
        source="He, Zhang, Ren and Sun (2016), CVPR, 770-778, section 3.4",
    ),
)
