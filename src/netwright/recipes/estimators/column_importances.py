"""How much the loss of a fitted estimator rises when a column of its inputs is shuffled.

Shapes: F features.
"""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.permutation_importance import shuffle_columns
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.evaluate import predict


def check_has_columns(spec: DataSpec) -> None:
    """Refuse inputs without columns, and labels, whose losses are several."""
    if spec.inputs != "features" or spec.target == "labels":
        raise ConfigError(
            f"importances are for features (N, F) with classes or reals, got {spec.inputs} "
            f"with {spec.target}"
        )


def column_importances(prepared: Prepared) -> NDArray[np.float64]:
    """The rise of each column (F,), on the rows held out if there are any."""
    model, task, data = prepared.model, prepared.task, prepared.data
    rows = data.train if data.val is None else data.val
    device = device_of(model)

    def answers(inputs: Tensor) -> Tensor:
        return predict(model, inputs.to(device), task)

    parts = (rows.inputs.cpu(), rows.targets.cpu(), data.spec)
    weights = None if rows.weights is None else rows.weights.cpu()
    return shuffle_columns(answers, *parts, weights=weights).rises.mean(1).numpy()
