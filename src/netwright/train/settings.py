"""How a model is trained by gradients: the settings of a recipe's `train` section."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from netwright.core.checks import is_finite_number
from netwright.core.config import marked_fields
from netwright.core.errors import ConfigError
from netwright.data.augment.catalog import AUGMENTATIONS, MIXING
from netwright.data.batches.split import NEEDS_STEPS, SourceSplit
from netwright.data.dataset import Split
from netwright.metrics.thresholds import read_rule
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import OptimizerEntry
from netwright.train.run_setting_groups import Hardware, Keeping, Stopping
from netwright.train.setting_groups import (
    FineTuning,
    Length,
    Objective,
    Optimization,
    Regularization,
    SequenceTraining,
)
from netwright.train.setting_marks import ConvexSearch, Heeded, Resume, Typed

DEFAULT_OPTIMIZER = "adam"


@dataclass(frozen=True, kw_only=True)
class TrainConfig(  # fields are listed from the last group to the first
    Hardware,
    Keeping,
    Stopping,
    SequenceTraining,
    Regularization,
    Objective,
    FineTuning,
    Optimization,
    Length,
):
    """Settings of training; the names are torch's and the field's."""

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        for augmentation in self.augment:
            name = augmentation.partition("=")[0].strip()
            AUGMENTATIONS.check(name)
            if name in MIXING and self.loss not in {None, "cross-entropy"}:
                raise ConfigError(
                    f"{name} mixes classes: it needs the loss cross-entropy, got {self.loss!r}"
                )
        _check_class_weight(self.class_weight)
        if self.threshold is not None:
            read_rule(self.threshold)
        if self.carry_state and self.on_non_finite == "skip":
            raise ConfigError(
                "on_non_finite must not be skip with carry_state: the carried state is not finite "
                "either"
            )
        if self.compile and self.forcing != (1, 1):
            raise ConfigError(
                "teacher_forcing must be 1 with compile: each change would need a recompilation"
            )
        if self.compile and self.by_length:
            raise ConfigError("by_length must be false with compile: each width would be compiled")
        if self.offload and self.parallel != "shard":
            raise ConfigError(f"offload needs parallel=shard, got {self.parallel}")
        if self.rule.closure:
            self._check_closure()

    @property
    def rule(self) -> OptimizerEntry:
        """The optimizer: the one that is named, or the usual one."""
        return OPTIMIZERS.load(self.optimizer or DEFAULT_OPTIMIZER)

    @property
    def forcing(self) -> tuple[float, float]:
        """Teacher forcing at the first and at the last update."""
        end = self.teacher_forcing_end
        return (self.teacher_forcing, self.teacher_forcing if end is None else end)

    def _check_closure(self) -> None:
        """Refuse what does not go with an optimizer that asks for the loss again."""
        optimizer = self.rule
        if self.accumulate > 1:
            raise ConfigError(f"accumulate must be 1 with {self.optimizer}: it takes its own steps")
        if self.on_non_finite != "stop":
            raise ConfigError(f"on_non_finite must be stop with {self.optimizer}")
        if self.precision == "fp16-mixed":
            raise ConfigError(f"precision must not be fp16-mixed with {self.optimizer}")
        moving = ("l1", "clip_norm", "clip_value", "weight_noise", "gradient_noise")
        reasons = dict.fromkeys(moving, "it takes its own steps")
        if optimizer.full_gradient:
            changing = ("augment", "input_noise", "label_noise")
            reasons |= dict.fromkeys(changing, "its two gradients must be of the same batch")
        reasons["carry_state"] = "it reads a batch several times"
        if optimizer.graph:
            reasons |= dict.fromkeys(
                ("compile", "activation_checkpointing"), "it differentiates twice"
            )
        for name, reason in reasons.items():
            if getattr(self, name):
                raise ConfigError(f"{name} is not supported with {self.optimizer}: {reason}")


def _check_class_weight(value: str | Mapping[str | int, Any] | None) -> None:
    if isinstance(value, str) and value != "balanced":
        raise ConfigError(
            f"class_weight must be 'balanced' or weights by class name, got {value!r:.60}"
        )
    for name, weight in value.items() if isinstance(value, Mapping) else ():
        if not (is_finite_number(weight) and weight >= 0):
            raise ConfigError(
                f"class_weight of {name!r} must be a number, 0 or more, got {weight!r:.60}"
            )


def settings_marked(mark: Resume | Heeded | ConvexSearch | Typed) -> tuple[str, ...]:
    """The settings of training that carry a mark."""
    return marked_fields(TrainConfig, mark)


class Pace(NamedTuple):
    """How training walks through rows.

    Args:
        batch_size: examples a batch.
        updates: of an epoch.
        epochs: passes to make; the last may be a part of one.
        last_step: the update with which the run is whole; None: its last pass makes it whole.
    """

    batch_size: int
    updates: int
    epochs: int
    last_step: int | None = None

    @property
    def all_updates(self) -> int:
        """Updates of the whole run, where none is left out."""
        return self.updates * self.epochs if self.last_step is None else self.last_step


def pace_for(config: TrainConfig, rows: int) -> Pace:
    """The pace of these settings on so many rows, with what was not given chosen.

    A few hundred rows are a handful of updates an epoch, and thirty epochs of them would leave a
    model half learned: so there are 30 epochs, or as many as make 1,000 updates, at most 300. An
    optimizer that searches within a step would learn a small batch by heart, and its steps go far:
    it takes all rows, and at most 100 epochs. A limit of updates alone, without epochs, is the
    length of the run.
    """
    optimizer = config.rule
    searches = optimizer.closure and not optimizer.full_gradient
    chosen = rows if optimizer.full_batch or searches else batch_size_for(rows)
    batch_size = config.batch_size or chosen
    if optimizer.full_batch and batch_size < rows:
        raise ConfigError(
            f"batch_size is not supported with {config.optimizer}: a step uses all {rows} rows, "
            f"got {batch_size}"
        )
    updates = math.ceil(math.ceil(rows / batch_size) / config.accumulate)
    if config.epochs is None and config.max_steps is not None:
        return Pace(batch_size, updates, math.ceil(config.max_steps / updates), config.max_steps)
    most = 100 if searches else 300
    return Pace(batch_size, updates, config.epochs or min(most, max(30, math.ceil(1000 / updates))))


def pace_of(config: TrainConfig, train: Split) -> Pace:
    """The pace of these settings on these examples: batches of a loader are as they are."""
    if not isinstance(train, SourceSplit):
        return pace_for(config, train.total)
    size, rule = train.batch_size, config.rule
    if config.batch_size not in {None, size}:
        raise ConfigError(
            f"batch_size is that of the DataLoader, {size}: remove batch_size={config.batch_size}, "
            f"and give a DataLoader with that batch_size"
        )
    if rule.full_batch or rule.closure:
        raise ConfigError(
            f"{config.optimizer} uses all rows at a step, a DataLoader gives batches: use another "
            f"optimizer, or give arrays"
        )
    if train.batches is None:
        if config.max_steps is None or config.epochs is not None:
            raise ConfigError(NEEDS_STEPS)
        return Pace(size, config.max_steps, 1, config.max_steps)
    updates = math.ceil(train.batches / config.accumulate)
    if config.epochs is None and config.max_steps is not None:
        return Pace(size, updates, math.ceil(config.max_steps / updates), config.max_steps)
    return Pace(size, updates, config.epochs or min(300, max(30, math.ceil(1000 / updates))))


def batch_size_for(count: int) -> int:
    """A batch for `count` rows: 32, from 10,000 rows on 128, never more than there are."""
    return min(count, 32 if count < 10_000 else 128)
