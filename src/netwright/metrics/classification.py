"""How often a classifier is right: one table of counts, and formulas that read it.

A confusion matrix holds all that these metrics need, and matrices add: the matrix of all the data
is the sum of the matrices of its parts, so a metric of many batches or ranks is exact.

Shapes: N samples, C classes; a confusion matrix is (C, C), row = target, column = prediction.
Source: van Rijsbergen, "Information Retrieval" (1979), chapter 7; Brodersen et al., "The Balanced
Accuracy and Its Posterior Distribution" (2010).
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.core.errors import ConfigError, ShapeError
from netwright.metrics.samples import check_classes, check_not_empty, check_weights, exact_dtype


def confusion_matrix(
    targets: Tensor, predicted: Tensor, num_classes: int, weights: Tensor | None = None
) -> Tensor:
    """Count the samples of each target (row) that got each prediction (column).

    Args:
        targets: the true classes, int64 (N,).
        predicted: the answers, int64 (N,).
        num_classes: C; classes that do not occur have zero rows and columns.
        weights: how much each sample counts, (N,).

    Returns:
        (C, C): int64 counts, or float64 sums of weights where there are any.
    """
    check_positive("num_classes", num_classes)
    check_shape("targets", targets, "N")
    check_not_empty("targets", targets)
    check_shape("predicted", predicted, len(targets))
    check_classes("targets", targets, num_classes)
    check_classes("predicted", predicted, num_classes)
    check_weights(weights, len(targets))
    cells = targets * num_classes + predicted
    if weights is None:
        amounts = torch.ones_like(cells)
    else:
        amounts = weights.detach().to(cells.device, exact_dtype(cells.device))
    counts = torch.zeros(num_classes**2, dtype=amounts.dtype, device=cells.device)
    return counts.index_add_(0, cells, amounts).view(num_classes, num_classes)


def accuracy(confusion: Tensor) -> float:
    """The share of samples that lie on the diagonal; the error is 1 minus this."""
    counts = _counts(confusion)
    return (counts.diagonal().sum() / counts.sum()).item()


def balanced_accuracy(confusion: Tensor) -> float:
    """The mean recall of the classes that occur as targets: a rare one counts like a common one."""
    counts = _counts(confusion)
    recalls = counts.diagonal() / counts.sum(dim=1)  # (C,), NaN where a class does not occur
    return recalls.nanmean().item()


def precision(confusion: Tensor) -> float:
    """Of the samples that were called a class, the share that are of it; see `f1` for the mean."""
    counts = _counts(confusion)
    return _class_one_or_macro(counts, _ratio(counts.diagonal(), counts.sum(dim=0)))


def recall(confusion: Tensor) -> float:
    """Of the samples of a class, the share that were found; see `f1` for the mean."""
    counts = _counts(confusion)
    return _class_one_or_macro(counts, _ratio(counts.diagonal(), counts.sum(dim=1)))


def f1(confusion: Tensor) -> float:
    """The harmonic mean of precision and recall: 2 hits / (called + true).

    With two classes this is the F1 of class 1. With more it is the plain mean of the F1 of every
    class that occurs among targets or predictions. 0 / 0 counts as 0.
    """
    counts = _counts(confusion)
    called_and_true = counts.sum(dim=0) + counts.sum(dim=1)
    return _class_one_or_macro(counts, _ratio(2 * counts.diagonal(), called_and_true))


def error_ratio(before: float, after: float) -> float:
    """The error that is left of an earlier one, from two accuracies.

    Near 100 % a point is worth more: 98 to 99 halves the error (0.5), 75 to 76 barely moves it
    (0.96). NaN where there was no error to begin with.
    """
    for name, value in (("before", before), ("after", after)):
        if not 0 <= value <= 1:
            raise ConfigError(f"{name} must be an accuracy in [0, 1], got {value!r}")
    return (1 - after) / (1 - before) if before < 1 else float("nan")


def _counts(confusion: Tensor) -> Tensor:
    """The matrix in the dtype to divide in; refuse what is not square."""
    if confusion.ndim != 2 or confusion.shape[0] != confusion.shape[1] or not confusion.numel():
        raise ShapeError(f"confusion must have shape (C, C), got {tuple(confusion.shape)}")
    return confusion.detach().to(exact_dtype(confusion.device))


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """The part of a whole, and 0 where the whole is 0."""
    return torch.where(whole > 0, part / whole, 0.0)


def _class_one_or_macro(counts: Tensor, values: Tensor) -> float:
    """Class 1 of two classes, else the mean over the classes that occur; NaN where none does."""
    occurs = (counts.sum(dim=0) + counts.sum(dim=1)) > 0  # (C,)
    if len(values) == 2:
        return torch.where(occurs.any(), values[1], torch.nan).item()
    return values[occurs].mean().item()
