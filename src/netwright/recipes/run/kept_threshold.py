"""The threshold of two classes that a run keeps: chosen on the validation rows, after training."""

import torch
from torch import nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.metrics.thresholds import choose_threshold, read_rule
from netwright.recipes.run.validation_answers import validation_answers
from netwright.train.tasks.task import Task


def check_threshold(rule: str | None, data: Data) -> None:
    """Refuse a rule where there is nothing to choose, or nothing to choose by."""
    if rule is None:
        return
    spec, val = data.spec, data.val
    if spec.target != "class" or spec.num_outputs != 2:
        has = f"{spec.num_outputs} classes" if spec.target == "class" else f"{spec.target} targets"
        raise ConfigError(f"threshold is for 2 classes, {data.name} has {has}")
    if val is None:
        raise ConfigError(
            f"threshold is chosen on validation rows, {data.name} has none: set val_size"
        )
    if len(torch.unique(val.targets)) < 2:
        raise ConfigError(
            f"threshold is chosen on validation rows of both classes, those of {data.name} are all "
            f"of one: raise val_size"
        )


def keep_threshold(rule: str | None, model: nn.Module, data: Data, task: Task) -> tuple[str, ...]:
    """Put the best threshold into the task, from where everything takes it; what to say of it."""
    if rule is None or data.val is None:
        return ()
    best, val = read_rule(rule), data.val.to(device_of(model))
    said = validation_answers(model, val, task)
    found = choose_threshold(said[:, 1], val.targets == 1, best, val.weights)
    task.threshold = found.value
    there, usual = (best.written(value, len(val)) for value in (found.best, found.usual))
    return (
        f"{data.spec.class_names[1]!r} is predicted above probability {found.value:.4g}, chosen by "
        f"{best.name} on {len(val):,} validation rows: {there} there, {usual} at 0.5",
    )
