"""Everything a training run is at one moment: what is saved, restored and shown."""

import math
import time
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from netwright.core.errors import RunError
from netwright.data.loader import Batch
from netwright.train.history import History, Row
from netwright.train.running import RunningMeasures
from netwright.train.tasks.task import Task


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
        epochs: passes to make.
        steps_per_epoch: updates a pass.
        epoch: passes made.
        position: batches of the present pass already used.
        step: updates made.
        samples: examples seen.
        history: the numbers so far.
        stop_reason: why training is to end after this step; empty while it goes on.
        batch: the batch at hand.
        loss: the loss of the batch at hand.
        unfinished_rows: rows at the end of the history that measure a pass which was stopped; they
            are shown, but not saved: the pass is measured again when it is whole.
        elapsed_before: seconds of training before this process.
    """

    model: nn.Module
    task: Task
    optimizer: torch.optim.Optimizer
    schedule: LRScheduler
    scaler: torch.amp.GradScaler | None
    device: torch.device
    running: RunningMeasures
    epochs: int
    steps_per_epoch: int
    epoch: int = 0
    position: int = 0
    step: int = 0
    samples: int = 0
    history: History = field(default_factory=History)
    stop_reason: str = ""
    batch: Batch | None = None
    loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    unfinished_rows: int = 0
    elapsed_before: float = 0.0
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds of training so far."""
        return self.elapsed_before + time.monotonic() - self.started

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimizer.param_groups[0]["lr"])

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
