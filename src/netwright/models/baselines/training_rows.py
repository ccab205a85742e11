"""Training rows as scikit-learn takes them, and what a model says of them afterwards.

Shapes: N examples, D inputs, C classes, K outputs.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

from netwright.core.errors import DataError
from netwright.core.learner import Examples
from netwright.core.seeding import seeded

BLOCK = 1024  # rows that go through a model at a time


class TrainingRows(NamedTuple):
    """Arrays on the CPU.

    Args:
        inputs: flattened, (N, D) float64.
        targets: classes (N,), one real a row (N,) or several (N, K).
        weights: how much each row counts (N,), or None where all count the same.
    """

    inputs: NDArray[np.float64]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None


def training_rows(data: Examples) -> TrainingRows:
    """The examples as arrays."""
    targets = data.targets.squeeze(1) if data.targets.shape[1:] == (1,) else data.targets
    return TrainingRows(
        inputs=data.inputs.flatten(1).double().cpu().numpy(),
        targets=targets.cpu().numpy(),
        weights=None if data.weights is None else data.weights.double().cpu().numpy(),
    )


def fit_estimator(estimator: Any, rows: TrainingRows) -> Any:
    """Let an estimator of scikit-learn learn; what it refuses is told as one sentence."""
    weighted = {} if rows.weights is None else {"sample_weight": rows.weights}
    try:
        with seeded(0):  # support vector machines draw from NumPy's own generator, to no effect
            return estimator.fit(rows.inputs, rows.targets, **weighted)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"scikit-learn rejects the training rows: {reason}") from error


def training_loss(model: nn.Module, data: Examples) -> float:
    """Cross-entropy of logits (N, C) or squared error of reals (N, K), by the weights of the rows.

    Taken in blocks: a forest looks at every row once a tree.
    """
    with torch.no_grad():
        outputs = torch.cat([model(part) for part in torch.split(data.inputs, BLOCK)])
    if data.targets.ndim == 1:
        losses = F.cross_entropy(outputs, data.targets, reduction="none")
    else:
        losses = (outputs - data.targets).square().mean(dim=1)  # (N,)
    weights = torch.ones_like(losses) if data.weights is None else data.weights
    return float((losses * weights).sum() / weights.sum())
