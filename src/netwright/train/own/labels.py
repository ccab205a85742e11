"""Predictions as scikit-learn compares them with targets: reals, labels, or scores.

Shapes: N examples, C classes or labels, K reals.
"""

from typing import Any

from torch import Tensor

from netwright.metrics.catalog import Kind
from netwright.metrics.labels import is_yes


def as_array(kind: Kind, predictions: Tensor, *, scores: bool) -> Any:
    """Reals (N,) or (N, K); classes (N,) or labels (N, C) of 0 and 1, or the scores of them.

    The score of two classes is that of the second (N,).

    Args:
        kind: of the targets.
        predictions: probabilities (N, C) or reals, on the CPU.
        scores: the probabilities themselves are wanted.
    """
    if kind == "real":
        return predictions.numpy()
    if kind == "labels":
        return predictions.numpy() if scores else is_yes(predictions).long().numpy()
    if not scores:
        return predictions.argmax(dim=1).numpy()
    return (predictions[:, 1] if predictions.shape[1] == 2 else predictions).numpy()
