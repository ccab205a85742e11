"""scikit-learn's scorers, of predictions that are there already.

Shapes: N examples, C classes or labels.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from torch import Tensor

from netwright.metrics.catalog import Kind
from netwright.train.own.labels import as_array


def score(scorer: Any, kind: Kind, predictions: Tensor, targets: Tensor) -> float:
    """What a scorer says of an estimator that predicts this."""
    said = Said(predictions) if kind == "real" else SaidClasses(predictions, kind)
    return float(scorer(said, np.zeros((len(targets), 1)), targets.numpy()))


class Said(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that has predicted already.

    Args:
        predictions: reals (N,) or (N, K).
    """

    def __init__(self, predictions: Tensor) -> None:
        self.predictions = predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows: Any) -> Any:
        """What it has predicted."""
        return self.predictions.numpy()


class SaidClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same of classes or labels.

    Args:
        predictions: probabilities (N, C).
        kind: of the targets.
    """

    def __init__(self, predictions: Tensor, kind: Kind) -> None:
        self.predictions, self.kind = predictions, kind
        self.classes_ = np.arange(predictions.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows: Any) -> Any:
        """The likeliest class (N,), or labels (N, C)."""
        return as_array(self.kind, self.predictions, scores=False)

    def predict_proba(self, rows: Any) -> Any:
        """Probabilities (N, C)."""
        return self.predictions.numpy()
