r"""How well objects are found: said boxes against true ones of the same class, each used once.

    mean box IoU = sum of IoU over matched pairs / true objects
    box F1       = 2 hits / (said + true),    a hit: a pair with IoU >= 1/2

An object is said where a class is likelier than that there is nothing. Pairs are matched within an
image, such that the sum of their IoU is largest; boxes of another class have no IoU.

Shapes: N images, Q queries, C classes, M objects; predictions (N, Q, C + 5): probabilities of the
classes and of nothing, and the box; targets (N, M, 5): a class, -1: no object, and its box.
Source: Everingham et al., "The PASCAL Visual Object Classes Challenge" (2010), section 4.2.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import ShapeError
from netwright.core.geometry.boxes import iou, match
from netwright.metrics.samples import check_not_empty, check_weights

HIT = 0.5  # the least IoU
LEAST_COLUMNS = 6  # one class, nothing, and a box


def score_boxes(predictions: Tensor, targets: Tensor) -> Tensor:
    """Sum of IoU, hits, said and true objects of each image (N, 4)."""
    check_shape("targets", targets, "N", "M", 5)
    check_shape("predictions", predictions, len(targets), "Q", "K")
    if predictions.shape[2] < LEAST_COLUMNS:
        raise ShapeError(
            "predictions must have two columns or more for the classes and nothing, and four for "
            f"the box, got {predictions.shape[2]}"
        )
    classes, true = targets[..., 0].long(), targets[..., 1:].double()  # the same on any device
    said = predictions[..., :-4].argmax(dim=2)  # (N, Q)
    is_said, is_object = said < predictions.shape[2] - 5, classes >= 0
    is_pair = is_object[:, :, None] & is_said[:, None] & (classes[:, :, None] == said[:, None])
    overlaps = torch.where(is_pair, iou(true, predictions[..., -4:].double()), 0)  # (N, M, Q)
    found = match(-overlaps, is_object)
    best = overlaps.gather(2, found.clamp_min(0)[..., None])[..., 0] * (found >= 0)
    counts = (best >= HIT, is_said, is_object)
    return torch.stack((best.sum(dim=1), *(count.sum(dim=1).to(best) for count in counts)), dim=1)


def mean_box_iou(sums: Tensor) -> float:
    """From the sums (4,) over all images; without any object nothing is defined."""
    return (sums[0] / sums[3]).item()


def box_f1_of(sums: Tensor) -> float:
    """From the sums (4,) over all images."""
    return (2 * sums[1] / (sums[2] + sums[3])).item()


def measure_boxes(scores: Tensor, weights: Tensor | None = None) -> dict[str, float]:
    """Both measures of all images, from the scores of each (N, 4)."""
    counted = scores.double() if weights is None else scores.double() * weights[:, None]
    sums = counted.sum(dim=0)
    return {"mean_box_iou": mean_box_iou(sums), "box_f1": box_f1_of(sums)}


def box_iou(predictions: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The mean IoU of the objects with what was said of them; 0 of those that were missed."""
    return _measured(predictions, targets, weights)["mean_box_iou"]


def box_f1(predictions: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """Precision and recall of objects whose class and place are right, as one number."""
    return _measured(predictions, targets, weights)["box_f1"]


def _measured(predictions: Tensor, targets: Tensor, weights: Tensor | None) -> dict[str, float]:
    check_shape("targets", targets, "N", "M", 5)
    check_not_empty("targets", targets)
    check_weights(weights, len(targets))
    for name, values in (("predictions", predictions), ("targets", targets)):
        check_finite(name, values)
    return measure_boxes(score_boxes(predictions, targets), weights)
