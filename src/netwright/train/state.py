"""Everything a training run is at one moment: what is saved, restored and shown."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from netwright.core.errors import RunError
from netwright.core.seeding import random_state, set_random_state
from netwright.data.loading.loader import Batch
from netwright.optimizers.eager import EagerOptimizer
from netwright.train.engines.engine import Engine
from netwright.train.memory_format import laid_out_like
from netwright.train.optimizer_state import restore_optimizer
from netwright.train.own.schedule import OwnSchedule
from netwright.train.ranks import ALONE, Ranks
from netwright.train.tasks.task import Task
from netwright.train.watching.history import History, Row
from netwright.train.watching.recent_losses import RecentLosses
from netwright.train.watching.running_losses import RunningLosses
from netwright.train.watching.running_metrics import RunningMetrics
from netwright.train.weight_average import WeightAverage

COUNTERS = ("epoch", "position", "accumulated", "step", "samples")
OF_EACH_RANK = ("random", "running", "recent", "gradients")  # ranks have the rest in common
USUAL = (torch.optim.Optimizer.zero_grad, EagerOptimizer.zero_grad)  # what they do is known
PLACE = ("position", "accumulated", "running", "recent", "gradients")  # in a pass over some rows


def nothing_to_confirm() -> None:
    """Where each update is looked at before it is made."""


class Place(NamedTuple):
    """A moment of a run, as the rows of its history have it."""

    step: int
    epoch: int
    samples: int
    time: float


class SetBack(Exception):  # noqa: N818 - nothing went wrong that the run does not go on from
    """The state was set back in the middle of something, which is left undone.

    It is for `confirm`; a callback whose event is over sets `goes_back` instead.
    """


def no_lap(_: str) -> None:
    """Where nobody times the parts of an update."""


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
        engine: how they hold it.
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
        may_repeat: a few batches may be taken again from where they begin, since nothing of the
            caller's own gives or sees each of them, be it the model or the loss.
        random: generators' states that were loaded, until they are put in place.
        gradients: that were loaded, between two batches of one update, likewise.
        confirm: waits until all updates so far are known to be of finite numbers; where one is
            not, it raises what ends the run, or `SetBack`. Called before anything is recorded,
            saved or shown.
        tell_awaited: adds rows to the history whose numbers were still on the device.
        lap: told the name of each part of an update when it is over, for those that are timed.
        by_graph: updates that this process started as one CUDA graph.
        may_capture: there is such a graph, or there may come one: what is queued for one update is
            queued for all.
        redo: computes the loss and the gradients of an update's batch once more; None where an
            update has several, or is the caller's own.
        batch: the batch at hand.
        loss: the loss of the batch at hand.
        notes: what should be said of the run in its results.
        unfinished_rows: rows at the end of the history that measure a pass which was stopped; they
            are shown, but not saved: the pass is measured again when it is whole.
        elapsed_before: seconds of training before this process.
        compile_seconds: that this process spent on compiling, which is no training.
        measuring_seconds: that this process spent on measuring validation data.
    """

    model: nn.Module
    task: Task
    optimizer: torch.optim.Optimizer
    schedule: LRScheduler | OwnSchedule
    scaler: torch.amp.GradScaler | None
    device: torch.device
    running: RunningMetrics | RunningLosses
    recent: RecentLosses
    epochs: int
    steps_per_epoch: int
    last_step: int | None = None
    conditions: Callable[[], dict[str, Any]] = dict
    ranks: Ranks = ALONE
    engine: Engine = field(default_factory=Engine)
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
    may_repeat: bool = False
    random: dict[str, Any] | None = None
    gradients: dict[str, Tensor] = field(default_factory=dict)
    confirm: Callable[[], None] = nothing_to_confirm
    tell_awaited: Callable[[], None] = nothing_to_confirm
    lap: Callable[[str], None] = no_lap
    by_graph: int = 0
    may_capture: bool = False
    redo: Callable[[Batch], object] | None = None
    batch: Batch | None = None
    loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    notes: list[str] = field(default_factory=list)
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
        """The gradients of the update at hand, as much of them as this rank holds.

        Weights that had no part in the loss have none.
        """
        found = [weight.grad for weight in self.learned_weights() if weight.grad is not None]
        return self.engine.own(found)

    def forget_gradients(self) -> None:
        """What `zero_grad` does; torch's own marks it for a profiler, ten times as long as it."""
        if type(self.optimizer).zero_grad not in USUAL:
            self.optimizer.zero_grad()  # the caller's own
            return
        for weight in self.learned_weights():
            weight.grad = None

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

    def state_dict(self) -> dict[str, Any]:
        """All that a run in progress is: trees of tensors and plain values; nothing is copied."""
        self.settle()
        parts = self._parts().items()
        return {
            **{name: getattr(self, name) for name in COUNTERS},
            "model": self.training_weights(),
            **{name: None if part is None else part.state_dict() for name, part in parts},
            "gradients": self._waiting_gradients(),
            "random": random_state(),
            "passed_over": self.passed_over,
            "elapsed": self.elapsed,
            "history": list(self.history.rows),
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Take back what `state_dict` gave, or some of its parts; the others stay as they are.

        Generators and gradients wait for `take_up`: what is done before training goes on may draw.
        """
        for name in COUNTERS:
            setattr(self, name, saved.get(name, getattr(self, name)))
        if "model" in saved:
            if self.average is not None:
                self.average.take_out()  # where the model holds it
            self.model.load_state_dict(saved["model"])
        for name, part in self._parts().items():
            if part is self.optimizer and name in saved:
                restore_optimizer(self.optimizer, saved[name], with_settings=True)
            elif part is not None and saved.get(name) is not None:
                part.load_state_dict(saved[name])
        self.gradients = saved.get("gradients", self.gradients)
        self.random = saved.get("random", self.random)
        if "passed_over" in saved:
            self.passed_over = [(int(epoch), int(place)) for epoch, place in saved["passed_over"]]
        self.elapsed_before = saved.get("elapsed", self.elapsed_before)
        if "history" in saved:
            self.history = History(list(saved["history"]))

    def take_up(self) -> None:
        """Put the gradients and the generators in place that were loaded; no others stay."""
        self.forget_gradients()  # whatever the caller computed before is not ours
        for name, weight in self.model.named_parameters():
            if name in self.gradients:
                weight.grad = laid_out_like(weight, self.gradients[name].to(weight.device))
        if self.random is not None:
            set_random_state(self.random)
        self.random, self.gradients = None, {}

    def _parts(self) -> dict[str, Any]:
        """What has a state of its own beside the model; None where the run has no such part."""
        return {
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "scaler": self.scaler,
            "average": self.average,
            "running": self.running,
            "recent": self.recent,
        }

    def _waiting_gradients(self) -> dict[str, Tensor]:
        """The gradients that wait for the rest of their update, by the weight's name."""
        named = self.model.named_parameters() if self.accumulated else ()
        return {name: weight.grad for name, weight in named if weight.grad is not None}

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
        self.settle()
        self.record_at(self.place(), split, values)

    def record_at(self, place: Place, split: str, values: dict[str, float]) -> None:
        """The same for a moment that has passed, whose numbers are known now."""
        moment = place._asdict()
        for name, value in values.items():
            if not math.isfinite(value):
                raise RunError(
                    f"{split}/{name} is {value} after step {place.step}, epoch {place.epoch}; "
                    f"the learning rate is {self.lr:g}, a smaller one often helps"
                )
            self.history.rows.append(Row(**moment, split=split, name=name, value=value))

    def place(self) -> Place:
        """This moment on every axis of the history."""
        return Place(self.step, self.epoch, self.samples, round(self.elapsed, 4))

    def settle(self) -> None:
        """Wait for all updates so far, and let the history hold what was awaited of them."""
        self.confirm()
        self.tell_awaited()
