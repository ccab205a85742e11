"""Try learning rates: train a copy for a hundred updates while the rate rises at each of them.

It is an ordinary training: the same steps on the same batches, with a schedule of its own.
"""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from netwright.core.errors import ConfigError, RunError
from netwright.data.dataset import Data
from netwright.inspection.training.learning_rate_range import (
    QUIET,
    LearningRateRange,
    measure_learning_rate_range,
    smooth,
)
from netwright.train.callback import Callback
from netwright.train.measuring import Measuring
from netwright.train.own.parts import NO_PARTS, OwnParts
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer

LOWEST_RATE, HIGHEST_RATE, UPDATES = 1e-7, 10.0, 100
GROWTH: float = (HIGHEST_RATE / LOWEST_RATE) ** (1 / (UPDATES - 1))
BLOWN_UP = 4.0  # times the smallest smoothed loss


def try_learning_rates(
    model: nn.Module,
    data: Data,
    task: Task,
    config: TrainConfig,
    *,
    seed: int = 0,
    own: OwnParts = NO_PARTS,
) -> LearningRateRange:
    """Measure the loss of a copy of the model at rates from 1e-7 to 10, each for one update.

    It ends early where the smoothed loss has grown to four times its smallest value. The model and
    the generators stay as they were. The config's own rate, schedule and epochs are not used.
    """
    if config.rule.closure:
        raise ConfigError(
            f"{config.optimizer} evaluates the loss several times per step: a learning-rate range "
            f"test is not possible"
        )
    if isinstance(own.optimizer, Mapping):
        raise ConfigError("a learning-rate range test is for one optimizer, these are several")
    if callable(own.optimizer):
        own = replace(own, optimizer=_at_rate(own.optimizer, config.lr))
    watch = _Watch()
    config = replace(
        config, lr=LOWEST_RATE, epochs=UPDATES, compile=False, parallel="replicate", offload=False
    )
    trainer = _Trial(config, task, callbacks=[watch], seed=seed, own=own)
    state = trainer.start(copy.deepcopy(model), data)
    groups = state.optimizer.param_groups  # Muon's biases and gains begin at a rate of their own
    grows = [group["initial_lr"] <= LOWEST_RATE for group in groups]  # early parts at lower ones
    state.schedule = LambdaLR(state.optimizer, [_growth if one else _no_growth for one in grows])
    trainer.fit(state, data)
    if not watch.losses:
        raise RunError(
            "the loss of the first batch is not finite: a learning-rate range test is not possible"
        )
    rates = [LOWEST_RATE * GROWTH**update for update in range(len(watch.losses))]
    return measure_learning_rate_range(rates, watch.losses)


def _at_rate(make: Callable[..., Optimizer], given: float | None) -> Callable[..., Optimizer]:
    """Makes the caller's optimizer as a run would, and then sets its rate.

    A function of parameters need not take `lr`. Groups with a rate of their own keep it.

    Args:
        make: the caller's.
        given: the rate that the settings give; None: the optimizer's own.
    """

    def made(parameters: Any, *, lr: float, **settings: Any) -> Optimizer:
        optimizer = make(parameters, **({} if given is None else {"lr": given}), **settings)
        rates = [group["lr"] for group in optimizer.param_groups]
        usual = optimizer.defaults.get("lr")
        usual = usual if usual in rates else max(rates)
        for group in optimizer.param_groups:
            if group["lr"] == usual:
                group["lr"] = lr
        return optimizer

    return made


def _growth(update: int) -> float:
    return GROWTH**update


def _no_growth(update: int) -> float:
    return 1.0


class _Watch(Callback):
    """Notes the loss of every update; stops after the last rate, or where the loss blows up."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def on_before_update(self, state: TrainState) -> None:
        """Float16 may skip an update and try it again: the last try counts."""
        loss = state.loss.item()
        if not math.isfinite(loss):
            state.stop_reason = "the loss is not finite"
            return
        self.losses[state.step :] = [loss]
        settled = smooth(self.losses)[QUIET:]
        if len(self.losses) == UPDATES:
            state.stop_reason = "every rate was tried"
        elif settled and settled[-1] > BLOWN_UP * min(settled):
            state.stop_reason = "the loss has blown up"


class _Trial(Trainer):
    """A training that keeps no history: weights that blow up have nothing worth measuring."""

    def _measuring(self, data: Data) -> Measuring:
        return _Unmeasured(self.config, data.val)


class _Unmeasured(Measuring):
    def is_due(self, state: TrainState, *, after: int, ends: bool) -> bool:
        return False

    def take(self, state: TrainState) -> None:
        pass
