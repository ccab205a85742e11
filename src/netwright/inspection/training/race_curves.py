"""The optimizer race on a model's own loss: who makes it small soonest.

All have the same first weights and the same batches in the same order, and each has the best of a
small grid of learning rates.

The loss of a batch is measured before the update that learns from it, so it is never that of
examples which were just learned, as long as there are new ones.

Shapes: T updates.
Source: Schmidt, Schneider and Hennig, "Descending through a Crowded Valley" (2021).
"""

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from netwright.inspection.drawing.figure_style import colour_of, log_scale
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FACTORS = (10**-0.5, 1.0, 10**0.5, 10.0)  # of an optimizer's usual rate: the grid at first
STEP = 10**0.5  # by which the grid grows where the best rate is at its end
MOST_RATES = 6
FEW_FACTORS = (1.0, 10**0.5)  # a grid that does not grow, of a model that takes long
DECADE = 10.0  # losses that span more are drawn on a logarithmic axis
LAST = 1 / 4  # of the updates: their mean loss is the result

Builder = Callable[[nn.Module, float], torch.optim.Optimizer]


@dataclass(frozen=True, kw_only=True)
class Lap:
    """One optimizer at one learning rate.

    Args:
        lr: the rate.
        losses: of the batches, each before its update, (T,); fewer where it ran away.
        result: the mean loss of the last batches; None where it ran away.
    """

    lr: float
    losses: tuple[float, ...]
    result: float | None

    @property
    def has_gained(self) -> bool:
        """Whether the result is below the first loss by more than losses differ from the next."""
        if self.result is None or len(self.losses) < 2:
            return False
        changes = [abs(after - before) for before, after in pairwise(self.losses)]
        return self.losses[0] - self.result > sum(changes) / len(changes)


@dataclass(frozen=True, kw_only=True)
class Racer:
    """One optimizer.

    Args:
        name: of the optimizer.
        laps: one a rate, rates rising.
    """

    name: str
    laps: tuple[Lap, ...]

    @property
    def best(self) -> Lap:
        """The lap of the lowest result."""
        return min(self.laps, key=_rank)


@dataclass(frozen=True, kw_only=True)
class RaceCurves(View):
    """Losses by step at each one's best rate, and results by rate.

    Args:
        racers: the best first.
        steps: T.
        rows: examples a batch.
    """

    title: ClassVar[str] = "Optimizer race"

    racers: tuple[Racer, ...]
    steps: int
    rows: int

    @property
    def size(self) -> tuple[float, float]:
        """Two panels side by side, and the names below."""
        return (10.0, 4.6)

    @property
    def caption(self) -> str:
        """The rules, and who won."""
        return (
            f"From the same first weights, {self.steps} updates on the same batches of "
            f"{self.rows} in the same order, each optimizer at the best of the rates on the right. "
            f"{self._winner} The result is the mean loss of the last {_last(self.steps)} batches. "
            "A race of a few steps shows which optimizer is fast at the start, not which ends "
            "lowest."
        )

    @property
    def _winner(self) -> str:
        """Who is lowest, how sure that is, and who stays where all began."""
        best = self.racers[0]
        if best.best.result is None:
            return "All of them diverged."
        idle = [racer.name for racer in self.racers if not racer.best.has_gained]
        if len(idle) == len(self.racers):
            return (
                f"None of them is lower at the end than {number(best.best.losses[0])}, where all "
                "began, by more than the noise between batches: the race is undecided."
            )
        end = ""
        if best.best in (best.laps[0], best.laps[-1]) and len(best.laps) > 1:
            end = f", the {'lowest' if best.best is best.laps[0] else 'highest'} that was tried"
        stayed = f" Hardly lower than the starting loss: {', '.join(idle)}." if idle else ""
        return (
            f"{best.name} is lowest, at {number(best.best.result)} with a learning rate of "
            f"{best.best.lr:.2g}{end}.{stayed}"
        )

    def table_rows(self) -> list[dict[str, str]]:
        """The best first."""
        return [
            {
                "optimizer": racer.name,
                "best lr": f"{racer.best.lr:.2g}",
                "loss": _told(racer.best.result),
                "rates tried": ", ".join(f"{lap.lr:.2g}" for lap in racer.laps),
            }
            for racer in self.racers
        ]

    def draw(self, figure: "Figure") -> None:
        """The race; beside it how much the rate matters."""
        race, rates = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
        for index, racer in enumerate(self.racers):
            self._draw_losses(race, racer, colour_of(index))
            _draw_results(rates, racer, colour_of(index))
        race.set(xlabel="update", ylabel="loss of the batch", title="at the best rate (smoothed)")
        race.locator_params(axis="x", integer=True)
        columns = min(4, len(self.racers))
        figure.legend(
            loc="outside lower center", ncols=columns, fontsize=9, title="mean loss at the end"
        )
        rates.set(xlabel="learning rate", ylabel="mean loss at the end", title="at every rate")
        results = [lap.result for racer in self.racers for lap in racer.laps]
        if known := [result for result in results if result is not None]:
            log_scale(rates, "x")
            if max(known) > DECADE * min(known) > 0:
                log_scale(rates, "y")
                log_scale(race, "y")

    def _draw_losses(self, axes: "Axes", racer: Racer, colour: str) -> None:
        losses = _smoothed(racer.best.losses, max(1, self.steps // 8))
        label = f"{legend_name(racer.name)}: {_told(racer.best.result)}, lr {racer.best.lr:.2g}"
        axes.plot(range(1, len(losses) + 1), losses, color=colour, label=label)


def measure_race(
    model: nn.Module,
    loss: Callable[[nn.Module, Batch], Tensor],
    batches: Sequence[Batch],
    entrants: Mapping[str, tuple[float, Builder]],
    *,
    seed: int = 0,
    few_rates: bool = False,
) -> RaceCurves:
    """Let optimizers run, each on copies of the model.

    Args:
        model: with its first weights; it stays as it is.
        loss: a model and a batch -> the loss.
        batches: T of them, in the order in which all see them.
        entrants: name -> its usual learning rate, and what builds it for a model and a rate.
        seed: of dropout, the same for all.
        few_rates: try two rates each; else a grid that grows where its best rate is at an end.
    """

    def lap(build: Builder, lr: float) -> Lap:
        # Moved to where it is, a copy's recurrent weights lie in one piece again, as cuDNN wants.
        runner = copy.deepcopy(model).train().to(device_of(model))
        with seeded(seed):
            losses = tuple(_run(runner, build(runner, lr), loss, batches))
        last = losses[-_last(len(batches)) :]
        is_done = len(losses) == len(batches)
        return Lap(lr=lr, losses=losses, result=sum(last) / len(last) if is_done else None)

    racers = [
        Racer(name=name, laps=_laps(partial(lap, build), usual, few_rates=few_rates))
        for name, (usual, build) in entrants.items()
    ]
    return RaceCurves(
        racers=tuple(sorted(racers, key=lambda racer: _rank(racer.best))),
        steps=len(batches),
        rows=len(batches[0].rows),
    )


def _laps(lap: Callable[[float], Lap], usual: float, *, few_rates: bool) -> tuple[Lap, ...]:
    """A lap at every rate of the grid, which grows where its best rate is the first or the last."""
    if few_rates:
        return tuple(lap(factor * usual) for factor in FEW_FACTORS)
    laps = [lap(factor * usual) for factor in FACTORS]
    while len(laps) < MOST_RATES:
        best = laps.index(min(laps, key=_rank))
        if best == 0:
            laps.insert(0, lap(laps[0].lr / STEP))
        elif best == len(laps) - 1:
            laps.append(lap(laps[-1].lr * STEP))
        else:
            break
    return tuple(laps)


def _run(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[nn.Module, Batch], Tensor],
    batches: Sequence[Batch],
) -> Iterator[float]:
    """The loss of each batch, then its update; it ends where the loss is not finite."""
    for batch in batches:
        optimizer.zero_grad()
        value = loss(model, batch)
        if not math.isfinite(value.item()):
            return
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield value.item()


def _last(steps: int) -> int:
    """How many batches the result is the mean of."""
    return max(1, round(LAST * steps))


def _rank(lap: Lap) -> float:
    return math.inf if lap.result is None else lap.result


def _smoothed(losses: Sequence[float], width: int) -> list[float]:
    """The mean of each loss and those just before it."""
    windows = (losses[max(0, end - width) : end] for end in range(1, len(losses) + 1))
    return [sum(window) / len(window) for window in windows]


def _draw_results(axes: "Axes", racer: Racer, colour: str) -> None:
    laps = [lap for lap in racer.laps if lap.result is not None]
    rates, results = [lap.lr for lap in laps], [_rank(lap) for lap in laps]
    axes.plot(rates, results, "o-", color=colour, markersize=5, alpha=0.9)
    if laps:
        axes.plot(racer.best.lr, _rank(racer.best), "*", color=colour, markersize=13)


def _told(result: float | None) -> str:
    return "diverged" if result is None else number(result)
