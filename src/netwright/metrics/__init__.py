"""How good predictions are: pure functions of tensors, and a table of them all.

NaN always means that a metric has no value on this data (`measure_all` leaves it out); predictions
that are NaN themselves are refused.
"""

from netwright.metrics.catalog import METRICS, Kind, Metric, find_metric, measure_all, metrics_for
from netwright.metrics.classification import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    error_ratio,
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
from netwright.metrics.regression import mae, mse, r2, rmse
from netwright.metrics.segmentation import (
    Threshold,
    best_threshold,
    class_dice,
    class_iou,
    dice,
    mask_tables,
    mean_iou,
)
from netwright.metrics.tokens import bits_per_token, perplexity, sequence_accuracy, token_accuracy

__all__ = [
    "METRICS",
    "Kind",
    "Metric",
    "Threshold",
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "best_threshold",
    "bits_per_token",
    "brier",
    "class_dice",
    "class_iou",
    "confusion_matrix",
    "dice",
    "error_ratio",
    "f1",
    "find_metric",
    "label_accuracy",
    "label_brier",
    "label_f1",
    "label_log_loss",
    "log_loss",
    "mae",
    "mask_tables",
    "mean_iou",
    "measure_all",
    "metrics_for",
    "mse",
    "perplexity",
    "precision",
    "r2",
    "recall",
    "rmse",
    "roc_auc",
    "sequence_accuracy",
    "subset_accuracy",
    "token_accuracy",
    "top_k_accuracy",
]
