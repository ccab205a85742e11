"""How the learning rate moves over a run, by name, one value a step.

Source: Loshchilov and Hutter (2017) for the cosine, Smith and Topin (2018) for one cycle, Vaswani
et al. (2017) for the inverse square root.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Interval
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.card import Card
from netwright.core.catalog import Catalog
from netwright.core.config import Config, Doc, Fraction, Size, parse
from netwright.optimizers.schedule import Moment, NoOptions, Schedule

Factor = Annotated[float, Interval(gt=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class FloorConfig(Config):
    """Settings of a schedule that falls to the run's end."""

    floor: Annotated[Fraction, Doc("final learning rate, as a fraction of lr")] = 0.0


@dataclass(frozen=True, kw_only=True)
class StepConfig(Config):
    """Settings of the step schedule."""

    every: Annotated[Size, Doc("epochs between drops")] = 10
    factor: Annotated[Factor, Doc("factor of the learning rate at a drop")] = 0.1


@dataclass(frozen=True, kw_only=True)
class ExponentialConfig(Config):
    """Settings of the exponential schedule."""

    factor: Annotated[Factor, Doc("factor of the learning rate per epoch")] = 0.95


@dataclass(frozen=True, kw_only=True)
class OneCycleConfig(Config):
    """Settings of the one-cycle schedule."""

    rise: Annotated[
        float,
        Interval(gt=0, lt=1),
        Doc("fraction of the run over which the rate rises, without a warm-up"),
    ] = 0.3
    start: Annotated[Factor, Doc("initial learning rate, as a fraction of lr")] = 1 / 25
    floor: Annotated[Fraction, Doc("final learning rate, as a fraction of lr")] = 1 / 25e4


def constant(given: NoOptions, at: Moment) -> float:
    """1 throughout."""
    return 1.0


def cosine(given: FloorConfig, at: Moment) -> float:
    """Half a cosine from 1 to the floor."""
    return given.floor + (1 - given.floor) * (1 + math.cos(math.pi * at.progress)) / 2


def linear(given: FloorConfig, at: Moment) -> float:
    """A straight line from 1 to the floor."""
    return 1 - (1 - given.floor) * at.progress


def step(given: StepConfig, at: Moment) -> float:
    """A drop each time so many epochs of the run are over."""
    return given.factor ** (at.step // at.steps_per_epoch // given.every)


def exponential(given: ExponentialConfig, at: Moment) -> float:
    """The same ratio from each step to the next; after an epoch it is `factor`."""
    return math.pow(given.factor, (at.step - at.warmup) / at.steps_per_epoch)


def one_cycle(given: OneCycleConfig, at: Moment) -> float:
    """Half a cosine up to 1, then half a cosine down to the floor, which the last step has.

    A warm-up takes the place of the rise.
    """
    top, last = (at.warmup or given.rise * at.steps) - 1, at.steps - 1
    if at.step < top:
        return eased(given.start, 1.0, at.step / top)
    return eased(1.0, given.floor, (at.step - top) / (last - top) if at.step < last else 1.0)


def inverse_square_root(given: NoOptions, at: Moment) -> float:
    """1 at the last step of the warm-up, then falling as 1 / sqrt(steps)."""
    return math.sqrt(max(1, at.warmup) / (at.step + 1))


def eased(start: float, end: float, progress: float) -> float:
    """Half a cosine from start to end, slow at both."""
    return end + (start - end) * (1 + math.cos(math.pi * progress)) / 2


_RATE = {r"\eta": "the learning rate, `lr`", r"\eta_t": "the rate of step t"}
_STEPS = {**_RATE, "t": "steps since the warm-up", "T": "steps from the warm-up to the run's end"}
_TO_THE_FLOOR = {**_STEPS, r"\epsilon": "share that is left at the end, `floor`"}

CONSTANT = Schedule(
    shape=constant,
    depends_on_length=False,
    card=Card(
        sentence="The same learning rate throughout.",
        formula=r"\eta_t = \eta",
        symbols=_RATE,
        source="Widrow and Hoff (1960), IRE WESCON Convention Record 4, 96-104",
    ),
)
COSINE = Schedule(
    shape=cosine,
    settings=FloorConfig,
    card=Card(
        sentence="Half a cosine from the learning rate down to zero, slow at both ends.",
        formula=r"\eta_t = \epsilon \eta + (1 - \epsilon) \frac{\eta}{2}"
        r" \left(1 + \cos\frac{\pi t}{T}\right)",
        symbols=_TO_THE_FLOOR,
        source="Loshchilov and Hutter (2017), arXiv 1608.03983",
    ),
)
LINEAR = Schedule(
    shape=linear,
    settings=FloorConfig,
    card=Card(
        sentence="A straight line from the learning rate down to zero.",
        formula=r"\eta_t = \eta \left(1 - (1 - \epsilon) \frac{t}{T}\right)",
        symbols=_TO_THE_FLOOR,
        source="Devlin et al. (2019), arXiv 1810.04805, appendix A.2",
    ),
)
STEP = Schedule(
    shape=step,
    settings=StepConfig,
    depends_on_length=False,
    card=Card(
        sentence="The learning rate is divided by ten every so many epochs.",
        formula=r"\eta_t = \eta \, \gamma^{\lfloor e / E \rfloor}",
        symbols={
            **_RATE,
            r"\gamma": "what a drop leaves of the rate, `factor`",
            "e": "epochs that are over at step t",
            "E": "epochs between drops, `every`",
        },
        source="Krizhevsky, Sutskever and Hinton (2012), NIPS 25, section 5",
    ),
)
EXPONENTIAL = Schedule(
    shape=exponential,
    settings=ExponentialConfig,
    depends_on_length=False,
    card=Card(
        sentence="The learning rate is multiplied by the same factor at every step.",
        formula=r"\eta_t = \eta \, \gamma^{t / S}",
        symbols={
            **_RATE,
            r"\gamma": "what an epoch leaves of the rate, `factor`",
            "t": "steps since the warm-up",
            "S": "steps of an epoch",
        },
        source="Darken and Moody (1990), NIPS 3, 832-838",
    ),
)
ONE_CYCLE = Schedule(
    shape=one_cycle,
    settings=OneCycleConfig,
    card=Card(
        sentence="The learning rate rises to `lr` and falls to almost zero: a single cycle.",
        formula=r"\eta_0 = \alpha \eta \;\to\; \eta_{r T} = \eta \;\to\; \eta_T = \epsilon \eta",
        symbols={
            r"\eta": "the largest learning rate, `lr`",
            r"\alpha": "share of it at the first step, `start`",
            r"\epsilon": "share of it at the last step, `floor`",
            "r": "share of the run over which the rate rises, `rise`",
            "T": "steps of the run; each arrow is half a cosine",
        },
        source="Smith and Topin (2018), arXiv 1708.07120; half cosines as in torch's OneCycleLR,"
        " momentum stays as it is",
    ),
)
INVERSE_SQRT = Schedule(
    shape=inverse_square_root,
    depends_on_length=False,
    card=Card(
        sentence="After the warm-up the learning rate falls with the root of the step.",
        formula=r"\eta_t = \eta \, \min\left(\sqrt{\frac{w}{t}}, \frac{t}{w}\right)",
        symbols={
            **_RATE,
            "w": "steps of the warm-up, `warmup`, at least 1",
            "t": "the step, from 1",
        },
        source="Vaswani et al. (2017), NIPS 30, section 5.3",
    ),
)

SCHEDULES: Catalog[Schedule] = Catalog(
    "schedule",
    {
        "constant": "netwright.optimizers.schedules:CONSTANT",
        "cosine": "netwright.optimizers.schedules:COSINE",
        "linear": "netwright.optimizers.schedules:LINEAR",
        "step": "netwright.optimizers.schedules:STEP",
        "exponential": "netwright.optimizers.schedules:EXPONENTIAL",
        "one-cycle": "netwright.optimizers.schedules:ONE_CYCLE",
        "inverse-sqrt": "netwright.optimizers.schedules:INVERSE_SQRT",
        "plateau": "netwright.optimizers.plateau:PLATEAU",
    },
)


def build_schedule(
    name: str,
    optimizer: torch.optim.Optimizer,
    *,
    steps: int,
    steps_per_epoch: int = 1,
    warmup: int = 0,
    options: Mapping[str, Any] | None = None,
) -> LambdaLR:
    """A torch scheduler: a linear warm-up from 1/warmup, then the named shape.

    Args:
        name: which one.
        optimizer: whose learning rate moves.
        steps: updates of the whole run.
        steps_per_epoch: updates of a pass over the data.
        warmup: updates over which the rate rises.
        options: further settings of the schedule (every, factor, floor ...).
    """
    schedule = SCHEDULES.load(name)
    given = parse(schedule.settings, options or {}, "schedule_options")
    return schedule.build(optimizer, given, Moment(0, steps, steps_per_epoch, warmup))
