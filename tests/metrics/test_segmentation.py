"""Masks: tables and overlaps by hand and by scikit-learn; thresholds by trying every one."""

import math

import pytest
import torch
from sklearn import metrics as sklearn_metrics
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.metrics.segmentation import (
    Threshold,
    best_threshold,
    class_dice,
    class_iou,
    dice,
    mask_tables,
    mean_iou,
    measure_masks,
)


def draws(*shape: int, classes: int = 3, seed: int = 0) -> Tensor:
    return torch.randint(classes, shape, generator=torch.Generator().manual_seed(seed))


def box(top: int, left: int, side: int, grid: int = 3) -> Tensor:
    mask = torch.zeros(1, grid, grid, dtype=torch.uint8)
    mask[:, top : top + side, left : left + side] = 1
    return mask


@pytest.mark.covers("object-detection-segmentation")
def test_two_boxes_of_2_by_2_that_share_one_pixel_by_hand() -> None:
    # The boxes have 4 + 4 - 1 = 7 pixels, of which they share 1; around them 2 of 8 are shared.
    (table,) = mask_tables(box(0, 0, 2), box(1, 1, 2), 2)
    assert table.tolist() == [[2, 3], [3, 1]]
    assert class_iou(table).tolist() == pytest.approx([2 / 8, 1 / 7])
    assert mean_iou(table) == pytest.approx((2 / 8 + 1 / 7) / 2)
    assert class_dice(table).tolist() == pytest.approx([4 / 10, 2 / 8])
    assert dice(table) == pytest.approx((4 / 10 + 2 / 8) / 2)
    assert class_iou(mask_tables(box(0, 0, 2), box(0, 0, 2), 2)[0]).tolist() == [1, 1]


def test_overlaps_are_those_of_scikit_learn() -> None:
    truth, said = draws(5, 6, 7), draws(5, 6, 7, seed=1)
    table = mask_tables(truth, said, 3).sum(dim=0)
    flat = truth.flatten(), said.flatten()
    assert table.tolist() == sklearn_metrics.confusion_matrix(*flat).tolist()
    assert class_iou(table).tolist() == pytest.approx(
        sklearn_metrics.jaccard_score(*flat, average=None).tolist()
    )
    assert class_dice(table).tolist() == pytest.approx(
        sklearn_metrics.f1_score(*flat, average=None).tolist()
    )


def test_dice_follows_from_iou() -> None:
    iou = class_iou(mask_tables(draws(1, 9, 9), draws(1, 9, 9, seed=1), 3)[0])
    overlap = class_dice(mask_tables(draws(1, 9, 9), draws(1, 9, 9, seed=1), 3)[0])
    torch.testing.assert_close(overlap, 2 * iou / (1 + iou))


def test_a_class_that_is_nowhere_does_not_count() -> None:
    table = torch.tensor([[3.0, 1.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    assert class_dice(table)[2].isnan()
    assert dice(table) == pytest.approx((6 / 7 + 8 / 9) / 2)
    assert mean_iou(table) == pytest.approx((3 / 4 + 4 / 5) / 2)
    values = measure_masks(table[None], ("a", "b", "c"))
    assert list(values) == [
        *("dice", "mean_iou", "pixel_accuracy"),
        *("iou/a", "iou/b", "dice/a", "dice/b"),
    ]
    assert values["pixel_accuracy"] == 7 / 8
    assert values["dice/b"] == pytest.approx(8 / 9)


def test_all_pixels_count_together_and_an_image_as_often_as_its_weight_says() -> None:
    truth, said = draws(4, 5, 5), draws(4, 5, 5, seed=1)
    tables = mask_tables(truth, said, 3)
    whole = mask_tables(truth.reshape(1, 10, 10), said.reshape(1, 10, 10), 3)
    names = ("a", "b", "c")
    assert measure_masks(tables, names) == pytest.approx(measure_masks(whole, names))
    twice = measure_masks(tables[[0, 0, 2]], names)
    assert measure_masks(tables, names, torch.tensor([2.0, 0, 1, 0])) == pytest.approx(twice)
    assert dice(tables.sum(dim=0)) != pytest.approx(
        sum(dice(table) for table in tables) / 4, abs=1e-4
    )


def test_bytes_and_whole_numbers_give_the_same_table() -> None:
    truth, said = draws(2, 4, 4), draws(2, 4, 4, seed=1)
    assert torch.equal(mask_tables(truth.byte(), said, 3), mask_tables(truth, said.byte(), 3))


def tried(images: Tensor, is_class: Tensor) -> float:
    """The best Dice of all levels and sides, one after the other."""
    found = []
    for level in torch.unique(images):
        for marked in (images <= level, images >= level):
            hits = (marked & is_class).sum()
            found.append(float(2 * hits / (marked.sum() + is_class.sum())))
    return max(found)


@pytest.mark.parametrize("is_dark", [True, False])
def test_the_best_threshold_is_the_best_of_all(is_dark: bool) -> None:
    levels = draws(2, 8, 8, classes=20).byte()
    noise = draws(2, 8, 8, classes=12, seed=1)
    is_class = (levels + noise < 14) if is_dark else (levels + noise > 18)
    threshold = best_threshold(levels, is_class)
    assert threshold.is_dark == is_dark
    assert threshold.dice == pytest.approx(tried(levels, is_class))
    said = threshold.mark(levels).long()
    measured = class_dice(mask_tables(is_class.long(), said, 2).sum(dim=0))[1].item()
    assert measured == pytest.approx(threshold.dice)


def test_a_threshold_by_hand() -> None:
    images = torch.tensor([[[0.1, 0.2, 0.3, 0.9]]])
    is_class = torch.tensor([[[True, False, True, False]]])
    # Up to 0.3 three are marked, of which two are right: 2 * 2 / (3 + 2); up to 0.1 2 * 1 / 3.
    found = best_threshold(images, is_class)
    assert found == Threshold(pytest.approx(0.3), True, pytest.approx(0.8))  # type: ignore[arg-type]
    assert found.mark(torch.tensor([0.0, 0.4])).tolist() == [True, False]


def test_thresholds_refuse_what_they_cannot_be_chosen_by() -> None:
    images = torch.zeros(1, 2, 2)
    with pytest.raises(DataError, match=r"^there is no pixel of the class to choose a threshold"):
        best_threshold(images, images > 0)
    with pytest.raises(ShapeError, match="is_class"):
        best_threshold(images, torch.ones(1, 2, 3, dtype=torch.bool))
    assert math.isfinite(best_threshold(images, images == 0).dice)
