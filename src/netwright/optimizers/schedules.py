"""How the learning rate moves over a run, by name, one value a step."""

import math
from collections.abc import Callable

import torch
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.catalog import Catalog

Shape = Callable[[float], float]  # progress in [0, 1] -> factor of the learning rate

SCHEDULES: Catalog[Shape] = Catalog(
    "schedule",
    {
        "constant": "netwright.optimizers.schedules:constant",
        "cosine": "netwright.optimizers.schedules:cosine",
        "linear": "netwright.optimizers.schedules:linear",
    },
)


def constant(progress: float) -> float:
    """1 throughout."""
    return 1.0


def cosine(progress: float) -> float:
    """Half a cosine from 1 to 0 (Loshchilov and Hutter, 2017)."""
    return (1 + math.cos(math.pi * progress)) / 2


def linear(progress: float) -> float:
    """A straight line from 1 to 0."""
    return 1 - progress


def build_schedule(
    name: str, optimizer: torch.optim.Optimizer, *, steps: int, warmup: int = 0
) -> LambdaLR:
    """A torch scheduler: a linear warm-up from 1/warmup, then the named shape to the last step."""
    shape = SCHEDULES.load(name)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return shape(min(1.0, (step - warmup) / max(1, steps - warmup)))

    return LambdaLR(optimizer, factor)
