"""The temperature of probabilities that a run keeps: found on the validation rows, after training.

The task divides logits by it, so that every probability is calibrated: those of `predict`, of the
metrics and views, and of an exported model.
"""

from torch import nn

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.metrics.temperature import choose_temperature
from netwright.recipes.run.validation_answers import validation_answers
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.task import Task


def check_calibration(how: str | None, data: Data) -> None:
    """Refuse where there are no classes, or nothing to find a temperature on."""
    if how is None:
        return
    if data.spec.target != "class":
        raise ConfigError(f"calibrate is for classes, {data.name} has {data.spec.target} targets")
    if data.val is None:
        raise ConfigError(
            f"calibrate needs validation rows to find the temperature on, {data.name} has none: "
            f"set val_size"
        )


def keep_temperature(how: str | None, model: nn.Module, data: Data, task: Task) -> tuple[str, ...]:
    """Put the best temperature into the task; what to say of it."""
    if how is None or data.val is None or not isinstance(task, Classification):
        return ()
    val = data.val.to(device_of(model))
    found = choose_temperature(validation_answers(model, val, task), val.targets, val.weights)
    task.temperature = found.value
    return (
        f"probabilities are calibrated: logits are divided by the temperature {found.value:.4g}, "
        f"found on {len(val):,} validation rows, whose log loss goes from {found.before:.4g} to "
        f"{found.loss:.4g}",
    )
