"""How the learning rate moves over a run, by name, one value a step."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.card import Card
from netwright.core.catalog import Catalog


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A row's part in the catalog of schedules.

    Args:
        shape: progress in [0, 1] -> factor of the learning rate.
        card: sentence, formula, symbols, source.
    """

    shape: Callable[[float], float]
    card: Card

    def __call__(self, progress: float) -> float:
        """The factor at this share of the run."""
        return self.shape(progress)


def constant(progress: float) -> float:
    """1 throughout."""
    return 1.0


def cosine(progress: float) -> float:
    """Half a cosine from 1 to 0 (Loshchilov and Hutter, 2017)."""
    return (1 + math.cos(math.pi * progress)) / 2


def linear(progress: float) -> float:
    """A straight line from 1 to 0."""
    return 1 - progress


_RATE = {r"\eta": "the learning rate, `lr`", r"\eta_t": "the rate of step t"}
_STEPS = {**_RATE, "t": "steps since the warm-up", "T": "steps from the warm-up to the run's end"}

CONSTANT = Schedule(
    shape=constant,
    card=Card(
        sentence="The same learning rate throughout.",
        formula=r"\eta_t = \eta",
        symbols=_RATE,
        source="Widrow and Hoff (1960), IRE WESCON Convention Record 4, 96-104",
    ),
)
COSINE = Schedule(
    shape=cosine,
    card=Card(
        sentence="Half a cosine from the learning rate down to zero, slow at both ends.",
        formula=r"\eta_t = \frac{\eta}{2} \left(1 + \cos\frac{\pi t}{T}\right)",
        symbols=_STEPS,
        source="Loshchilov and Hutter (2017), arXiv 1608.03983",
    ),
)
LINEAR = Schedule(
    shape=linear,
    card=Card(
        sentence="A straight line from the learning rate down to zero.",
        formula=r"\eta_t = \eta \left(1 - \frac{t}{T}\right)",
        symbols=_STEPS,
        source="Devlin et al. (2019), arXiv 1810.04805, appendix A.2",
    ),
)

SCHEDULES: Catalog[Schedule] = Catalog(
    "schedule",
    {
        name: f"netwright.optimizers.schedules:{name.upper()}"
        for name in ("constant", "cosine", "linear")
    },
)


def build_schedule(
    name: str, optimizer: torch.optim.Optimizer, *, steps: int, warmup: int = 0
) -> LambdaLR:
    """A torch scheduler: a linear warm-up from 1/warmup, then the named shape to the last step."""
    schedule = SCHEDULES.load(name)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return schedule(min(1.0, (step - warmup) / max(1, steps - warmup)))

    return LambdaLR(optimizer, factor)
