"""The objects of one's own that a run is trained with, as one record.

A recipe names only what is in tables. Such objects live in Python: a run that was trained with them
is resumed and opened with the same ones, and its recipe says which these were.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from netwright.core.adapted_module import Place
from netwright.core.errors import ConfigError
from netwright.train.own.loss import LossCallable, check_own_loss
from netwright.train.own.metrics import OwnMetric, read_metrics
from netwright.train.own.model_loss import MODEL
from netwright.train.own.names import name_of
from netwright.train.own.optimizer import Grouping, OptimizerMaker, check_own_optimizer
from netwright.train.own.schedule import ScheduleMaker, Unit, check_own_schedule


@dataclass(frozen=True, kw_only=True)
class OwnParts:
    """What a caller handed over; None and empty where it is the recipe's.

    Args:
        output: the key, field or place of the prediction in what the module returns.
        loss: see `OwnLoss`; "model": the module computes it, see `ModelLoss`.
        optimizer: see `build_own_optimizer`.
        schedule: see `OwnSchedule`.
        parameter_groups: makes of the module the groups of parameters of its optimizer.
        training_step: makes the loss, or several, of the module and a batch; see `OwnStep`.
        metrics: one or several by name; see `OwnMetric`. They are no part of what is trained.
    """

    output: Place | None = None
    loss: LossCallable | Literal["model"] | None = None
    optimizer: OptimizerMaker | Mapping[str, OptimizerMaker] | None = None
    schedule: ScheduleMaker | tuple[ScheduleMaker, Unit] | None = None
    parameter_groups: Grouping | None = None
    training_step: Callable[[nn.Module, Any], Any] | None = None
    metrics: Mapping[str, OwnMetric] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be what it is given for."""
        if self.loss is not None and self.loss != MODEL:
            check_own_loss(self.loss)
        if self.optimizer is not None:
            check_own_optimizer(self.optimizer)
        if self.schedule is not None:
            check_own_schedule(self.schedule)
        functions = {
            "parameter_groups": "the module",
            "training_step": "the module and a batch",
        }
        for name, what in functions.items():
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise ConfigError(
                    f"{name} must be a function of {what}, got {type(given).__name__}"
                )
        if self.loss is not None and self.training_step is not None:
            raise ConfigError("training_step makes the loss itself: remove loss or training_step")

    @property
    def wants_whole(self) -> bool:
        """Whether the loss is of all that the module returns, not of its prediction alone."""
        return self.loss == MODEL or (self.loss is not None and self.output is None)

    @property
    def names(self) -> dict[str, str]:
        """What decides how the run is trained, by what it is for: the recipe says these."""
        return dict(self._names())

    def _names(self) -> Iterator[tuple[str, str]]:
        for part in fields(self):
            thing = getattr(self, part.name)
            if part.name not in LOOKING and thing is not None:
                yield part.name, name_of(thing)


LOOKING = frozenset({"output", "metrics"})  # the weights are the same without them
PARTS = tuple(part.name for part in fields(OwnParts) if part.name not in LOOKING)
NO_PARTS = OwnParts()
BESIDE = ("output", "parameter_groups", "training_step")  # arguments of `nw.fit` for objects alone
NAMED_OR_OWN = ("loss", "optimizer", "schedule")  # settings of training that are names, or objects


def take_own(settings: Mapping[str, Any], **given: Any) -> tuple[OwnParts, dict[str, Any]]:
    """The objects among the settings, with those that are given beside, and the other settings."""
    rest = dict(settings)
    for name in NAMED_OR_OWN:
        thing = rest.get(name)
        if thing is not None and (not isinstance(thing, str) or (name, thing) == ("loss", MODEL)):
            given[name] = rest.pop(name)
    return OwnParts(**given), rest


def take_all_own(settings: Mapping[str, Any]) -> tuple[OwnParts, dict[str, Any]]:
    """The same where all of them are among the settings."""
    rest = dict(settings)
    beside = {name: rest.pop(name) for name in BESIDE if name in rest}
    metrics = read_metrics(rest.pop("metrics", ()))
    return take_own(rest, metrics=metrics, **beside)


def check_copied(own: OwnParts, who: str) -> None:
    """Refuse an optimizer or a schedule that is of one module, where copies of it are trained.

    Args:
        own: what was handed over.
        who: trains copies.
    """
    for name, kind in (("optimizer", Optimizer), ("schedule", LRScheduler)):
        given = getattr(own, name)
        several = given.values() if isinstance(given, Mapping) else given
        parts = several if isinstance(several, Iterable) else [given]
        if any(isinstance(one, kind) for one in parts):
            raise ConfigError(
                f"the {name} is that of one module, but {who} trains new ones: give its class, or "
                f"functools.partial of it"
            )


def check_beside(own: OwnParts, settings: Mapping[str, Any]) -> None:
    """Refuse settings of training that an object of one's own takes the place of.

    Args:
        own: what was handed over.
        settings: of training that are not the default.
    """
    for name, settled in SETTLED.items():
        for setting in settled if getattr(own, name) is not None else ():
            if setting in settings:
                raise ConfigError(
                    f"{setting} is not supported with your own {name}: build it into that"
                )


SETTLED = {
    "loss": ("loss_options", "class_weight", "label_smoothing", "aux_weight", "target_transform"),
    "optimizer": ("penalize", "kernel"),
    "parameter_groups": ("penalize", "layer_decay", "unfreeze_every"),
    "schedule": ("warmup", "schedule_options"),
    "training_step": (
        *("compile", "activation_checkpointing", "carry_state", "by_length", "output_noise"),
        *("augment", "loss", "target_transform"),
    ),
}
