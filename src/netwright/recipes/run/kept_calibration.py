"""What makes the probabilities of a run honest: found on the validation rows, after training.

The task divides logits by a temperature, or takes probabilities through rising curves, so that all
are calibrated: those of `predict`, of the metrics and views, and of an exported model.
"""

import torch
from torch import nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.metrics.isotonic import choose_curves, honest_probabilities
from netwright.metrics.probability import log_loss
from netwright.metrics.temperature import choose_temperature
from netwright.recipes.run.validation_answers import validation_answers
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.task import Task

FEWEST = 10  # validation rows; of one or two, any probability can be made to look honest
FEW = 1_000  # validation rows; with fewer, curves follow their chance


def check_calibration(how: str | None, data: Data) -> None:
    """Refuse where there are no classes, or nothing to calibrate on."""
    if how is None:
        return
    if data.spec.target != "class":
        raise ConfigError(f"calibrate is for classes, {data.name} has {data.spec.target} targets")
    if data.val is None:
        raise ConfigError(f"calibrate needs validation rows, {data.name} has none: set val_size")
    if len(data.val) < FEWEST:
        raise ConfigError(
            f"calibrate needs {FEWEST} validation rows or more, {data.name} has {len(data.val)}: "
            f"raise val_size"
        )
    if len(torch.unique(data.val.targets)) < 2:
        raise ConfigError(
            f"calibrate needs validation rows of several classes, those of {data.name} are all of "
            f"one: raise val_size"
        )


def keep_calibration(how: str | None, model: nn.Module, data: Data, task: Task) -> tuple[str, ...]:
    """Put the best temperature, or the best curves, into the task; what to say of it."""
    if how is None or data.val is None or not isinstance(task, Classification):
        return ()
    val = data.val.to(device_of(model))
    answers = validation_answers(model, val, task)
    doubts: tuple[str, ...] = ()
    if how == "temperature":
        found = choose_temperature(answers, val.targets, val.weights)
        task.temperature, before, after = found.value, found.before, found.loss
        done = f"logits are divided by the temperature {found.value:.4g}"
    else:
        task.curves = choose_curves(answers, val.targets, val.weights)
        honest = honest_probabilities(answers, task.curves)
        targets, weights = val.targets.cpu(), None if val.weights is None else val.weights.cpu()
        before, after = (log_loss(one.cpu(), targets, weights) for one in (answers, honest))
        done = "they go through rising curves"
        if len(val) < FEW:
            doubts = (
                f"isotonic calibration on fewer than {FEW:,} validation rows follows their chance: "
                f"calibrate=temperature needs fewer",
            )
    return (
        f"probabilities are calibrated: {done}, found on {len(val):,} validation rows, whose log "
        f"loss goes from {before:.4g} to {after:.4g}",
        *doubts,
    )
