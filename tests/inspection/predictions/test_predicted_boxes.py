"""Predicted boxes: which images are shown, what stands on them, and the measures of all."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ShapeError
from netwright.inspection.predictions.predicted_boxes import measure_predicted_boxes
from netwright.metrics.boxes import box_f1, box_iou

NAMES = ("disc", "box")


def case(count: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """Images whose one object is found the better, the later they come; two queries each."""
    images = torch.rand(count, 3, 8, 6, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[[1, 0.5, 0.5, 0.4, 0.4]]]).repeat(count, 1, 1)
    predictions = torch.zeros(count, 2, 7)
    predictions[:, 0, 1], predictions[:, 1, 2] = 0.9, 1.0
    predictions[:, 0, 3:] = targets[:, 0, 1:]
    predictions[:, 0, 3] += torch.linspace(0.3, 0, count)
    return images, targets, predictions


def test_the_worst_the_best_and_some_between_with_their_boxes() -> None:
    images, targets, predictions = case()
    view = measure_predicted_boxes(images, targets, predictions, NAMES, count=3)
    assert [image.row for image in view.images] == [0, 2, 4]
    assert view.images[-1].overlap == pytest.approx(1)
    ((name, share, corners),) = view.images[-1].said  # the other query says that there is nothing
    assert name == "box"
    assert share == pytest.approx(0.9)
    assert corners == pytest.approx((0.3, 0.3, 0.7, 0.7))
    ((name, share, corners),) = view.images[-1].truth
    assert (name, share) == ("box", 1.0)
    assert corners == pytest.approx((0.3, 0.3, 0.7, 0.7))
    assert view.mean_box_iou == pytest.approx(box_iou(predictions, targets))
    assert view.box_f1 == pytest.approx(box_f1(predictions, targets))


def test_rows_are_those_of_the_split_and_the_picture_is_drawn() -> None:
    view = measure_predicted_boxes(*case(2), NAMES, rows=torch.tensor([7, 30]))
    assert [image["row"] for image in view.to_json()["images"]] == [7, 30]
    assert "a sample of the split" in view.caption
    assert len(view.image("svg")) > 1000


def test_predictions_of_other_classes_are_refused() -> None:
    with pytest.raises(ShapeError, match="predictions"):
        measure_predicted_boxes(*case(), ("disc", "box", "third"))
