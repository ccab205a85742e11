"""Metrics of one's own: functions, scikit-learn's metrics and scorers, torchmetrics' objects.

    a function of (predictions, targets) -> number        tensors on the CPU
    scikit-learn's function of (targets, predictions)     labels, or scores where it is for these
    scikit-learn's scorer                                 a higher score is better
    an object with update, compute and reset              as torchmetrics has them

Predictions are probabilities (N, C) of classes and labels, reals in the units of the targets (N,)
or (N, K). Which way is better is `higher_is_better` of the object, as torchmetrics names it; else
what is called an error, loss, deviance or distance is to fall, as scikit-learn names them.

Shapes: N examples, C classes or labels, K reals.
"""

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from netwright.core.errors import ConfigError, NetwrightError
from netwright.metrics.catalog import METRICS, Kind
from netwright.train.own.labels import as_array
from netwright.train.own.names import name_of

KINDS = frozenset({"class", "labels", "real"})  # of target, with one prediction an example
# Metrics of scikit-learn that are of scores, not of labels.
OF_SCORES = frozenset(
    """average_precision_score brier_score_loss d2_brier_score d2_log_loss_score log_loss
    precision_recall_curve roc_auc_score top_k_accuracy_score""".split()
)
FALLING = ("error", "loss", "deviance", "distance")


class OwnMetric:
    """One number that a caller's object makes of predictions.

    Args:
        name: as it stands in results, reports and `monitor`.
        measure: the caller's object.
    """

    def __init__(self, name: str, measure: Any) -> None:
        if name == "loss" or name in METRICS:
            raise ConfigError(
                f"{name!r} is measured anyhow: give your metric another name, as in "
                f"metrics={{'own_{name}': ...}}"
            )
        if isinstance(measure, type) or not (callable(measure) or _is_counter(measure)):
            got = f"the class {measure.__name__}" if isinstance(measure, type) else repr(measure)
            raise ConfigError(
                f"the metric {name!r} must be a function of (predictions, targets), a scorer or an "
                f"object with update and compute, got {got:.60}"
            )
        self.name, self.of = name, measure
        if isinstance(measure, nn.Module):
            measure.cpu()  # where it is given predictions

    @property
    def is_lower_better(self) -> bool:
        """Whether it is to fall."""
        higher = getattr(self.of, "higher_is_better", None)
        if higher is not None:
            return not higher
        return not _is_scorer(self.of) and self.name.endswith(FALLING)

    def value(self, kind: Kind, predictions: Tensor, targets: Tensor) -> float:
        """Its value; NaN where it has none.

        Args:
            kind: of the targets.
            predictions: of all examples, on the CPU.
            targets: what is true.
        """
        if kind == "real" and predictions.shape[1:] == (1,):
            predictions, targets = predictions[:, 0], targets[:, 0]
        try:
            return float(self._value(kind, predictions, targets))
        except NetwrightError:
            raise
        except Exception as error:  # whatever a user's metric raises, it is told as one sentence
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ConfigError(f"the metric {self.name!r} fails: {reason}") from error

    def _value(self, kind: Kind, predictions: Tensor, targets: Tensor) -> Any:
        if _is_scorer(self.of):
            # scikit-learn takes long to import.
            from netwright.train.own.scoring import score  # noqa: PLC0415

            return score(self.of, kind, predictions, targets)
        if _is_counter(self.of):
            self.of.reset()
            two = predictions.ndim == 2 and predictions.shape[1] == 2 and kind == "class"
            is_binary = two and type(self.of).__name__.startswith("Binary")
            self.of.update(predictions[:, 1] if is_binary else predictions, targets)
            return self.of.compute()
        if _is_from_scikit_learn(self.of):
            function = self.of.func if isinstance(self.of, partial) else self.of
            scores = function.__name__ in OF_SCORES
            return self.of(targets.numpy(), as_array(kind, predictions, scores=scores))
        return self.of(predictions, targets)


def read_metrics(given: Any) -> dict[str, OwnMetric]:
    """The metrics by name, of one, a list, a dict or a collection of them."""
    if hasattr(given, "items"):
        return {str(name): OwnMetric(str(name), one) for name, one in given.items()}
    several = list(given) if isinstance(given, list | tuple) else [given]
    metrics = [OwnMetric(_name(one), one) for one in several]
    named = {metric.name: metric for metric in metrics}
    if len(named) < len(metrics):
        raise ConfigError(
            f"two metrics have one name, of {', '.join(one.name for one in metrics)}: name them, "
            f"as in metrics={{'first': ...}}"
        )
    return named


def measure_own(
    metrics: Mapping[str, OwnMetric], kind: Kind, predictions: Tensor, targets: Tensor
) -> dict[str, float]:
    """Those that have a value on this data."""
    values = {name: one.value(kind, predictions, targets) for name, one in metrics.items()}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def check_measurable(metrics: Mapping[str, OwnMetric], kind: str) -> None:
    """Refuse them where there is more than one prediction an example."""
    if metrics and kind not in KINDS:
        raise ConfigError(
            f"metrics of your own are for classes, labels and reals, the target is {kind!r}"
        )


def _name(metric: Any) -> str:
    """What a metric is called: by its function, or by its class as scikit-learn would write it."""
    if _is_scorer(metric):
        return name_of(metric._score_func)
    if isinstance(metric, partial):
        return _name(metric.func)
    if hasattr(metric, "__qualname__"):
        return name_of(metric)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(metric).__name__).lower()


def _is_scorer(metric: Any) -> bool:
    return hasattr(metric, "_score_func") and type(metric).__module__.startswith("sklearn.")


def _is_counter(metric: Any) -> bool:
    return all(callable(getattr(metric, name, None)) for name in ("update", "compute", "reset"))


def _is_from_scikit_learn(metric: Any) -> bool:
    function = metric.func if isinstance(metric, partial) else metric
    return str(getattr(function, "__module__", "")).startswith("sklearn.")
