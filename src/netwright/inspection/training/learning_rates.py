"""Learning rates: how each schedule moves the rate over a run, side by side.

The plateau schedule is shown a loss that gets better in the first half of the run and not after.

Shapes: T steps of the run, and the one that would come next.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.view import View
from netwright.optimizers import eager
from netwright.optimizers.plateau import PlateauRates
from netwright.optimizers.schedules import SCHEDULES, build_schedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 4


@dataclass(frozen=True, kw_only=True)
class LearningRates(View):
    """The rate of every step, as a share of the learning rate that was set.

    Args:
        names: of the schedules.
        shares: one row a schedule, (T + 1).
        steps_per_epoch: updates of a pass over the data.
        warmup: updates over which the rate rises.
    """

    title: ClassVar[str] = "Learning-rate schedules"

    names: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]
    steps_per_epoch: int
    warmup: int

    @property
    def size(self) -> tuple[float, float]:
        """A row of small pictures for every four schedules."""
        return (8.0, 0.5 + 1.8 * math.ceil(len(self.names) / COLUMNS))

    @property
    def caption(self) -> str:
        """What is drawn, and what the plateau schedule saw."""
        warmup = (
            f", after {self.warmup} step{'s' * (self.warmup > 1)} of warm-up" if self.warmup else ""
        )
        seen = (
            " The plateau schedule saw a loss that stops getting better halfway."
            if "plateau" in self.names
            else ""
        )
        return f"The share of the learning rate that each schedule takes{warmup}.{seen}"

    def draw(self, figure: "Figure") -> None:
        """A small picture a schedule, all on the same axes."""
        columns = min(COLUMNS, len(self.names))
        rows = math.ceil(len(self.names) / columns)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flatten()
        for axes, name, shares in zip(grid, self.names, self.shares, strict=False):
            epochs = [step / self.steps_per_epoch for step in range(len(shares))]
            axes.plot(epochs, shares, color=COLOURS[0])
            axes.set_title(name)
            axes.set_ylim(-0.04, 1.08)
        for axes in grid[len(self.names) :]:
            axes.set_axis_off()
        figure.supxlabel("epochs", fontsize=10)
        figure.supylabel("share of the learning rate", fontsize=10)


def measure_learning_rates(
    names: Iterable[str] = SCHEDULES,
    *,
    epochs: int = 30,
    steps_per_epoch: int = 20,
    warmup: int = 0,
) -> LearningRates:
    """Follow schedules, each with the settings that it has by itself, over a run.

    Args:
        names: of the schedules.
        epochs: passes of the run.
        steps_per_epoch: updates of a pass.
        warmup: updates over which the rate rises first.
    """
    names = tuple(names)
    return LearningRates(
        names=names,
        shares=tuple(_shares(name, epochs, steps_per_epoch, warmup) for name in names),
        steps_per_epoch=steps_per_epoch,
        warmup=warmup,
    )


def _shares(name: str, epochs: int, steps_per_epoch: int, warmup: int) -> tuple[float, ...]:
    """The rates of an optimizer of rate 1 that moves nothing."""
    optimizer = eager.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = build_schedule(
        name,
        optimizer,
        steps=epochs * steps_per_epoch,
        steps_per_epoch=steps_per_epoch,
        warmup=warmup,
    )
    shares = [float(optimizer.param_groups[0]["lr"])]
    for step in range(1, epochs * steps_per_epoch + 1):
        optimizer.step()
        schedule.step()
        if isinstance(schedule, PlateauRates) and step % steps_per_epoch == 0:
            schedule.see(max(0.5, 1 - step / steps_per_epoch / epochs))
        shares.append(float(optimizer.param_groups[0]["lr"]))
    return tuple(shares)
