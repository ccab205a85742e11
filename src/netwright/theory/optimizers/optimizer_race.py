"""The race: optimizers side by side on one surface, each at its best rate.

Rates are searched on one grid for all, so that no one is handicapped: of the runs that stay within
the picture the one counts that is close to a minimum soonest, and of equal ones the lowest. Methods
that choose the length of their steps themselves (L-BFGS, Newton's) run at their own rate.

A step is proportional to the rate, so places in units of the rate move as with the rate 1, and one
path has all rates side by side.

Shapes: G rates, T steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.inspection.drawing.page import Page, beside, note, picture, table, text
from netwright.inspection.training.descent_paths import DescentPaths, measure_descent_paths
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.optimizers.surfaces import SURFACES, Surface

RACERS = ("sgd", "momentum", "adagrad", "rmsprop", "adam", "lbfgs")
# They race when they are asked: more than six paths in one picture are not told apart.
GUESTS = (
    "nesterov",
    "heavy-ball",
    "gradient-descent",
    "adadelta",
    "nadam",
    "adamw",
    "lion",
    "newton",
)
# Newton's own step, and one update of L-BFGS a step: else a step is a whole minimisation.
OPTIONS: dict[str, dict[str, Any]] = {
    "newton": {"damping": 0.0},
    "lbfgs": {"max_iter": 1, "max_eval": 25},
}
RATES = torch.logspace(-4, 2, 49, dtype=torch.float64)[:, None]
RULES = (
    "Each runs at the best of a grid of learning rates, so that no one is handicapped: the one "
    "that is close to a minimum soonest without leaving the picture. Methods that choose the "
    "length of their steps themselves run at their own rate. A step of L-BFGS holds several "
    "evaluations of the surface, one of the others only one."
)
CLOSE = 1e-3  # a height below it is close to a minimum, whose height is 0


@dataclass(frozen=True, kw_only=True)
class Lap:
    """What one optimizer did on one surface.

    Args:
        name: of the optimizer.
        lr: the rate that it ran at.
        path: the places, (T + 1, 2).
        value: the height of the last one; None where it ran away, above the start.
        close_after: steps after which it stays close to a minimum; None where it does not.
    """

    name: str
    lr: float
    path: Tensor
    value: float | None
    close_after: int | None


@dataclass(frozen=True, kw_only=True)
class Race:
    """The laps of all on one surface."""

    surface: str
    laps: tuple[Lap, ...]

    @property
    def view(self) -> DescentPaths:
        """The picture."""
        surface = SURFACES.load(self.surface)
        return measure_descent_paths(
            self.surface,
            surface.formula,
            surface.value,
            {lap.name: lap.path for lap in self.laps},
            minima=surface.minima,
            x_range=surface.x_range,
            y_range=surface.y_range,
        )

    def rows(self) -> list[dict[str, str]]:
        """The table, the soonest first."""
        return [
            {
                "optimizer": lap.name,
                "lr": f"{lap.lr:.2g}",
                "final value": "diverged" if lap.value is None else f"{lap.value:.2g}",
                f"steps to {CLOSE:g}": "-" if lap.close_after is None else f"{lap.close_after}",
            }
            for lap in sorted(self.laps, key=_place)
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text, the soonest first."""
        laps = [
            {name: getattr(lap, name) for name in ("name", "lr", "value", "close_after")}
            for lap in sorted(self.laps, key=_place)
        ]
        return {"surface": self.surface, "close": CLOSE, "laps": laps}


def run_race(
    surface: str,
    names: Sequence[str] = RACERS,
    *,
    steps: int = 200,
    rates: Mapping[str, float] | None = None,
) -> Race:
    """Let optimizers run on a surface from its start.

    Args:
        surface: its name.
        names: of the optimizers.
        steps: T, for all.
        rates: learning rates that are given and not searched, by name.
    """
    for name in (*names, *(rates or {})):
        OPTIMIZERS.check(name)
        if name not in (*RACERS, *GUESTS):
            raise ConfigError(
                f"{name} does not race: it works on matrices or on rows of data, not on a place"
            )
    for name in rates or {}:
        if name not in names:
            raise ConfigError(f"lr is given for {name}, which does not take part")
    ground = SURFACES.load(surface)
    laps = tuple(_lap(name, ground, steps, (rates or {}).get(name)) for name in names)
    return Race(surface=surface, laps=laps)


def _lap(name: str, surface: Surface, steps: int, given: float | None) -> Lap:
    """The best of the rates, or the one that is given."""
    start = torch.tensor(surface.start, dtype=torch.float64)
    entry = OPTIMIZERS.load(name)
    if entry.closure:
        rates = torch.tensor([[entry.lr if given is None else given]], dtype=torch.float64)
        path = optimizer_path(
            name,
            surface.gradient,
            start,
            lr=float(rates),
            steps=steps,
            value=surface.value,
            **OPTIONS.get(name, {}),
        )
        paths = path[:, None]  # (T + 1, 1, 2)
    else:
        rates = RATES if given is None else torch.tensor([[given]], dtype=torch.float64)
        moved = optimizer_path(
            name,
            lambda scaled: surface.gradient(start + rates * scaled),
            torch.zeros(len(rates), 2, dtype=torch.float64),
            lr=1.0,
            steps=steps,
        )
        paths = start + rates * moved  # (T + 1, G, 2)
    laps = [_judged(name, float(lr), paths[:, i], surface) for i, lr in enumerate(rates)]
    return min(laps, key=lambda lap: (_leaves(lap.path, surface), *_place(lap)))


def _judged(name: str, lr: float, path: Tensor, surface: Surface) -> Lap:
    heights = surface.value(path)
    is_far = ~(heights < CLOSE)  # so is a height that is not a number
    far = int(is_far.flip(0).cummax(0).values.sum())
    last = float(heights[-1])
    stayed = bool(heights.isfinite().all()) and last <= float(heights[0])
    return Lap(
        name=name,
        lr=lr,
        path=path,
        value=last if stayed else None,
        close_after=far if far < len(path) else None,
    )


def _place(lap: Lap) -> tuple[float, float]:
    """Who is close sooner comes first, then who is lower."""
    infinity = float("inf")
    return (
        infinity if lap.close_after is None else lap.close_after,
        infinity if lap.value is None else lap.value,
    )


def _leaves(path: Tensor, surface: Surface) -> bool:
    """Whether the path leaves the picture."""
    low, high = torch.tensor([surface.x_range, surface.y_range], dtype=path.dtype).unbind(1)
    return not bool(((path >= low) & (path <= high)).all())


def race_page(races: Sequence[Race], *, steps: int) -> str:
    """The races as one offline page."""
    page = Page("The race of optimizers", subtitle=f"{steps:,} steps on each surface")
    for race in races:
        surface = SURFACES.load(race.surface)
        rows = race.rows()
        page.section(
            race.surface.capitalize(),
            text(surface.sentence),
            picture(race.view),
            beside(table(rows, numbers=list(rows[0])[1:]), note(RULES)),
        )
    return page.render()
