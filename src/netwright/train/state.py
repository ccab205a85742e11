"""Everything a training run is at one moment: what is saved, restored and shown."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from netwright.core.errors import RunError
from netwright.data.loader import Batch
from netwright.train.history import History, Row
from netwright.train.ranks import ALONE, Ranks
from netwright.train.recent_losses import RecentLosses
from netwright.train.running_metrics import RunningMetrics
from netwright.train.tasks.task import Task
from netwright.train.weight_average import WeightAverage


@dataclass(kw_only=True)
class TrainState:
    """The moving parts of a run.

    Args:
        model: what learns.
        task: what it learns.
        optimizer: how it learns.
        schedule: moves the learning rate, once a step.
        scaler: for float16, else None.
        device: where the model and the data are.
        running: loss and headline measure of the present pass.
        recent: losses of the updates since the last row by step.
        epochs: passes to make; where `last_step` is given, the last may be a part of one.
        steps_per_epoch: updates a pass.
        last_step: the update with which the run is whole; None: the last pass makes it whole.
        conditions: gives what has to be the same for the run to go on exactly; worked out when it
            is first asked for, since the data is hashed.
        ranks: the processes that train this model together.
        average: of the weights along the way, or None; it is what is measured and kept.
        epoch: passes made.
        position: batches of the present pass already used.
        accumulated: batches whose gradients wait for their update.
        step: updates made.
        samples: examples seen.
        passed_over: (epoch, position) of the batches that were left out, since they gave numbers
            that are not finite.
        history: the numbers so far.
        stop_reason: why training is to end after this step; empty while it goes on.
        is_cut_short: it ends on request or at a limit: there is more to learn.
        is_updating: gradients are whole and the weights have not moved: no place to save at.
        skips_update: the update at hand is to be left out.
        goes_back: the state was set back: the pass at hand goes on from its new place.
        random: generators' states of a checkpoint, put in place when training goes on.
        gradients: of a checkpoint between two batches of one update, put in place likewise.
        gradient_norms: of the update at hand, one a weight, where a callback measured them.
        batch: the batch at hand.
        loss: the loss of the batch at hand.
        unfinished_rows: rows at the end of the history that measure a pass which was stopped; they
            are shown, but not saved: the pass is measured again when it is whole.
        elapsed_before: seconds of training before this process.
        compile_seconds: that this process spent on compiling, which is no training.
        measuring_seconds: that this process spent on measuring validation data.
    """

    model: nn.Module
    task: Task
    optimizer: torch.optim.Optimizer
    schedule: LRScheduler
    scaler: torch.amp.GradScaler | None
    device: torch.device
    running: RunningMetrics
    recent: RecentLosses
    epochs: int
    steps_per_epoch: int
    last_step: int | None = None
    conditions: Callable[[], dict[str, Any]] = dict
    ranks: Ranks = ALONE
    average: WeightAverage | None = None
    epoch: int = 0
    position: int = 0
    accumulated: int = 0
    step: int = 0
    samples: int = 0
    passed_over: list[tuple[int, int]] = field(default_factory=list)
    history: History = field(default_factory=History)
    stop_reason: str = ""
    is_cut_short: bool = False
    is_updating: bool = False
    skips_update: bool = False
    goes_back: bool = False
    random: dict[str, Any] | None = None
    gradients: dict[str, Tensor] = field(default_factory=dict)
    gradient_norms: list[Tensor] = field(default_factory=list)
    batch: Batch | None = None
    loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    unfinished_rows: int = 0
    elapsed_before: float = 0.0
    compile_seconds: float = 0.0
    measuring_seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds of training so far."""
        return self.elapsed_before + time.monotonic() - self.started - self.compile_seconds

    @property
    def all_updates(self) -> int:
        """Updates of the whole run, where none is left out."""
        return self.epochs * self.steps_per_epoch if self.last_step is None else self.last_step

    @property
    def is_whole(self) -> bool:
        """Whether there is nothing left to do."""
        if self.last_step is None:
            return self.epoch >= self.epochs
        return self.step >= self.last_step

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimizer.param_groups[0]["lr"])

    def learned_weights(self) -> list[Tensor]:
        """What the optimizer moves."""
        return [weight for group in self.optimizer.param_groups for weight in group["params"]]

    def whole_gradients(self) -> list[Tensor]:
        """The gradients of the update at hand; weights that had no part in the loss have none."""
        return [weight.grad for weight in self.learned_weights() if weight.grad is not None]

    def averaged(self) -> AbstractContextManager[None]:
        """For a block, the model holds the average of its weights where there is one."""
        return nullcontext() if self.average is None else self.average.in_model()

    def buffers(self) -> list[Tensor]:
        """What is measured and not learned: the model's, and the same of its average."""
        kept = () if self.average is None else (self.average.mean, self.average.aside)
        named = dict(self.model.named_buffers())
        return [*named.values(), *(part[name] for part in kept for name in named if name in part)]

    def training_weights(self) -> dict[str, Tensor]:
        """What training goes on with: the model's tensors, also while it holds their average."""
        aside = {} if self.average is None else self.average.aside
        return {**self.model.state_dict(), **aside}

    def cut_short(self, reason: str) -> None:
        """End after this batch though there is more to learn."""
        self.stop_reason, self.is_cut_short = reason, True

    def measured_now(self, key: str) -> float | None:
        """The value of "val/loss" where it was measured after this update; else None."""
        for row in reversed(self.history.rows):
            if row.step != self.step:
                return None
            if row.key == key:
                return row.value
        return None

    def record(self, split: str, values: dict[str, float]) -> None:
        """Add measurements to the history, at this moment; a number that is not finite is refused.

        It is the last look before a callback saves or chooses: weights that give NaN are not kept.
        """
        now = self.elapsed
        for name, value in values.items():
            if not math.isfinite(value):
                raise RunError(
                    f"{split}/{name} is {value} after step {self.step}, epoch {self.epoch}; "
                    f"the learning rate is {self.lr:g}, a smaller one often helps"
                )
            self.history.rows.append(
                Row(
                    step=self.step,
                    epoch=self.epoch,
                    samples=self.samples,
                    time=round(now, 4),
                    split=split,
                    name=name,
                    value=value,
                )
            )
