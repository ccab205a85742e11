"""Every metric by name, with its card, and all the metrics of a task in one call.

The order of the table is the order of a report. A metric that has no value on some data (the area
under the ROC curve where one class is all there is) is NaN, and is left out by `measure_all`.

Shapes: N samples, C classes, K labels or outputs, T tokens of V kinds.
Kinds of target, and what is compared with them:
"class"   probabilities (N, C) and int64 targets (N,)
"labels"  probabilities (N, K) and targets (N, K) of 0 and 1
"real"    predictions (N, K) or (N,) and targets of the same shape
"mask"    probabilities (N, C, I, J) and targets (N, I, J), whole numbers
"tokens"  probabilities (N, T, V) and int64 targets (N, T), below 0 where none counts
"tags"    probabilities (N, T, C) and int64 targets (N, T), below 0 where none counts
"boxes"   probabilities and boxes (N, Q, C + 5), classes and boxes (N, M, 5), -1 where none counts
"span"    first and last places (N, 2) and those of the answers (N, A, 2), below 0 where none counts
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.errors import UnknownNameError
from netwright.metrics import cards
from netwright.metrics.boxes import box_f1, box_iou
from netwright.metrics.classification import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    f1,
    precision,
    recall,
)
from netwright.metrics.labels import (
    label_accuracy,
    label_brier,
    label_f1,
    label_log_loss,
    subset_accuracy,
)
from netwright.metrics.probability import brier, log_loss, top_k_accuracy
from netwright.metrics.ranking import average_precision, roc_auc
from netwright.metrics.regression import mae, r2, rmse
from netwright.metrics.samples import (
    check_class_samples,
    check_mask_samples,
    check_probabilities,
    check_rows_sum_to_one,
    weighted_mean,
)
from netwright.metrics.segmentation import MASK_FORMULAS, mask_tables
from netwright.metrics.spans import exact_match, span_f1
from netwright.metrics.tokens import (
    check_token_samples,
    measure_tokens,
    sequence_accuracy,
    tag_table,
    token_sums,
)

OF_DECISIONS = ("accuracy", "balanced_accuracy", "precision", "recall", "f1")  # of class targets
Kind = Literal["class", "labels", "real", "mask", "boxes", "tokens", "tags", "span"]
Measure = Callable[[Tensor, Tensor, Tensor | None], float]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One number that says how good predictions are.

    Args:
        name: as it stands in reports and logs ("accuracy").
        better: whether a higher or a lower value is the better one.
        measures: kind of target -> (predictions, targets, weights or None) -> value, NaN where it
            has none.
        card: what it is, its formula and its source.
        least: no value is lower.
    """

    name: str
    better: Literal["higher", "lower"]
    measures: Mapping[Kind, Measure]
    card: Card
    least: float = 0.0

    @property
    def targets(self) -> tuple[Kind, ...]:
        """The kinds of target that it is for."""
        return tuple(self.measures)

    @property
    def bounds(self) -> tuple[float, float]:
        """Its lowest and its highest value: what is to rise rises to 1, an error has no end."""
        return self.least, 1.0 if self.better == "higher" else math.inf


def measure_all(
    kind: Kind, predictions: Tensor, targets: Tensor, weights: Tensor | None = None
) -> dict[str, float]:
    """Every metric of a kind of target that has a value on this data, in the order of the table.

    Args:
        kind: of target; see the head of this file.
        predictions: probabilities or reals; see the head of this file.
        targets: what is true.
        weights: how much each sample counts, (N,).
    """
    values = {
        metric.name: metric.measures[kind](predictions, targets, weights)
        for metric in metrics_for(kind)
    }
    return {name: value for name, value in values.items() if not math.isnan(value)}


def metrics_for(kind: Kind) -> tuple[Metric, ...]:
    """The metrics of a kind of target, in the order of the table."""
    if kind not in get_args(Kind):
        raise UnknownNameError(
            f"kind of target must be one of {', '.join(get_args(Kind))}, got {kind!r}"
        )
    return tuple(metric for metric in METRICS.values() if kind in metric.measures)


def find_metric(name: str) -> Metric:
    """The metric of this name; one that is not in the table is refused with the nearest."""
    if name not in METRICS:
        hint = nearest(name, METRICS) or f"; there are {', '.join(METRICS)}"
        raise UnknownNameError(f"unknown metric {name!r}{hint}")
    return METRICS[name]


def _of_confusion(formula: Callable[[Tensor], float]) -> Measure:
    """Read a formula of a confusion matrix as one of probabilities: the likeliest class counts."""

    def measure(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
        check_class_samples("probabilities", probabilities, targets, weights)
        predicted = probabilities.argmax(dim=1)
        return formula(confusion_matrix(targets, predicted, probabilities.shape[1], weights))

    return measure


def _of_masks(formula: Callable[[Tensor], float]) -> Measure:
    """Read a formula of the table of all pixels as one of probabilities."""

    def measure(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
        check_mask_samples("probabilities", probabilities, targets, weights)
        tables = mask_tables(targets, probabilities.argmax(dim=1), probabilities.shape[1])
        return formula(weighted_mean(tables, weights))

    return measure


def _of_tokens(name: str) -> Measure:
    """Read a measure of the sums of all texts as one of probabilities."""

    def measure(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
        check_token_samples("probabilities", probabilities, targets, weights)
        check_probabilities(probabilities)
        check_rows_sum_to_one(probabilities.flatten(0, 1))
        return measure_tokens(token_sums(probabilities, targets), weights)[name]

    return measure


def _of_tags(formula: Callable[[Tensor], float]) -> Measure:
    """Read a formula of the table of all tokens as one of probabilities: the likeliest tag."""

    def measure(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
        check_token_samples("probabilities", probabilities, targets, weights)
        said = probabilities.argmax(dim=2)
        return formula(tag_table(said, targets, probabilities.shape[2], weights))

    return measure


def _all_tags(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
    """The share of sequences whose likeliest tags are all right."""
    check_token_samples("probabilities", probabilities, targets, weights)
    return sequence_accuracy(probabilities.argmax(dim=2), targets, weights)


def _top_5(probabilities: Tensor, targets: Tensor, weights: Tensor | None) -> float:
    """NaN with five classes or fewer: it would always be 1."""
    value = top_k_accuracy(probabilities, targets, 5, weights)
    return value if probabilities.shape[1] > 5 else float("nan")


_ROWS: tuple[Metric, ...] = (
    Metric(
        name="accuracy",
        better="higher",
        measures={
            "class": _of_confusion(accuracy),
            "labels": label_accuracy,
            "tokens": _of_tokens("accuracy"),
            "tags": _of_tags(accuracy),
        },
        card=cards.ACCURACY,
    ),
    Metric(
        name="subset_accuracy",
        better="higher",
        measures={"labels": subset_accuracy},
        card=cards.SUBSET_ACCURACY,
    ),
    Metric(
        name="sequence_accuracy",
        better="higher",
        measures={"tags": _all_tags},
        card=cards.SEQUENCE_ACCURACY,
    ),
    Metric(
        name="exact_match",
        better="higher",
        measures={"span": exact_match},
        card=cards.EXACT_MATCH,
    ),
    Metric(
        name="span_f1",
        better="higher",
        measures={"span": span_f1},
        card=cards.SPAN_F1,
    ),
    Metric(
        name="balanced_accuracy",
        better="higher",
        measures={"class": _of_confusion(balanced_accuracy)},
        card=cards.BALANCED_ACCURACY,
    ),
    Metric(
        name="precision",
        better="higher",
        measures={"class": _of_confusion(precision)},
        card=cards.PRECISION,
    ),
    Metric(
        name="recall",
        better="higher",
        measures={"class": _of_confusion(recall)},
        card=cards.RECALL,
    ),
    Metric(
        name="f1",
        better="higher",
        measures={"class": _of_confusion(f1), "labels": label_f1, "tags": _of_tags(f1)},
        card=cards.F1,
    ),
    Metric(
        name="roc_auc",
        better="higher",
        measures={"class": roc_auc, "labels": roc_auc},
        card=cards.ROC_AUC,
    ),
    Metric(
        name="average_precision",
        better="higher",
        measures={"class": average_precision, "labels": average_precision},
        card=cards.AVERAGE_PRECISION,
    ),
    Metric(
        name="log_loss",
        better="lower",
        measures={"class": log_loss, "labels": label_log_loss},
        card=cards.LOG_LOSS,
    ),
    Metric(
        name="brier",
        better="lower",
        measures={"class": brier, "labels": label_brier},
        card=cards.BRIER,
    ),
    Metric(
        name="top_5_accuracy",
        better="higher",
        measures={"class": _top_5},
        card=cards.TOP_5_ACCURACY,
    ),
    Metric(
        name="rmse",
        better="lower",
        measures={"real": rmse},
        card=cards.RMSE,
    ),
    Metric(
        name="mae",
        better="lower",
        measures={"real": mae},
        card=cards.MAE,
    ),
    Metric(
        name="r2",
        better="higher",
        measures={"real": r2},
        card=cards.R2,
        least=-math.inf,
    ),
    Metric(
        name="dice",
        better="higher",
        measures={"mask": _of_masks(MASK_FORMULAS["dice"])},
        card=cards.DICE,
    ),
    Metric(
        name="mean_iou",
        better="higher",
        measures={"mask": _of_masks(MASK_FORMULAS["mean_iou"])},
        card=cards.MEAN_IOU,
    ),
    Metric(
        name="pixel_accuracy",
        better="higher",
        measures={"mask": _of_masks(MASK_FORMULAS["pixel_accuracy"])},
        card=cards.PIXEL_ACCURACY,
    ),
    Metric(
        name="mean_box_iou",
        better="higher",
        measures={"boxes": box_iou},
        card=cards.MEAN_BOX_IOU,
    ),
    Metric(
        name="box_f1",
        better="higher",
        measures={"boxes": box_f1},
        card=cards.BOX_F1,
    ),
    Metric(
        name="perplexity",
        better="lower",
        measures={"tokens": _of_tokens("perplexity")},
        card=cards.PERPLEXITY,
        least=1.0,
    ),
    Metric(
        name="bits_per_token",
        better="lower",
        measures={"tokens": _of_tokens("bits_per_token")},
        card=cards.BITS_PER_TOKEN,
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ROWS})
