"""Which task goes with which kind of target, and how a task is built again from a run folder."""

from typing import Any

import torch

from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.train.tasks.classification import Classification, balanced_weights
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.task import Task


def task_for(data: Data, *, balanced: bool = False, scale_targets: bool = True) -> Task:
    """The task that the data's targets ask for.

    Args:
        data: what is to be learned.
        balanced: weigh classes so that each counts the same.
        scale_targets: standardise real targets while training.
    """
    kind = data.spec.target
    if balanced and kind != "class":
        raise ConfigError(f"class_weight is for one class of several, the target is {kind!r}")
    if kind == "class":
        classes = data.spec.num_outputs
        weights = balanced_weights(data.train, classes) if balanced else None
        return Classification(classes, weights)
    if kind == "labels":
        return MultiLabel()
    if kind == "real":
        return (
            Regression.fitted(data.train)
            if scale_targets
            else Regression.plain(data.spec.num_outputs)
        )
    raise ConfigError(f"there is no task yet for a target of kind {kind!r}")


def task_from_json(values: dict[str, Any]) -> Task:
    """The task that `to_json` gave."""
    kind = values.get("kind")
    if kind == "classification":
        weights = values["class_weights"]
        return Classification(
            values["num_classes"], None if weights is None else torch.tensor(weights)
        )
    if kind == "multi-label":
        return MultiLabel()
    if kind == "regression":
        return Regression(torch.tensor(values["center"]), torch.tensor(values["scale"]))
    raise ConfigError(f"unknown task {kind!r}")
