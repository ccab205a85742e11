"""Losses of masks: by hand, against torch, and what smoothing, weights and absent classes do."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.losses.segmentation import cross_entropy_dice, pixel_cross_entropy, soft_dice

# One image of 1 x 2 pixels and two classes; the softmax of (log 3, 0) is 3/4 and 1/4.
LOGITS = torch.tensor([[[[math.log(3), 0.0]], [[0.0, math.log(3)]]]], dtype=torch.float64)
TARGETS = torch.tensor([[[0, 0]]], dtype=torch.uint8)


def examples() -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 4, 5, 6, generator=rng, dtype=torch.float64)
    return logits, torch.randint(4, (3, 5, 6), generator=rng)


def test_cross_entropy_is_the_mean_over_pixels_by_hand() -> None:
    wanted = -(math.log(3 / 4) + math.log(1 / 4)) / 2
    assert pixel_cross_entropy(LOGITS, TARGETS).tolist() == pytest.approx([wanted])


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_is_that_of_torch(smoothing: float) -> None:
    logits, targets = examples()
    wanted = F.cross_entropy(logits, targets, label_smoothing=smoothing)
    ours = pixel_cross_entropy(logits, targets.byte(), "mean", smoothing)
    torch.testing.assert_close(ours, wanted)


def test_a_class_weight_is_how_often_its_pixels_count() -> None:
    logits, targets = examples()
    weights = torch.tensor([2.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    each = F.cross_entropy(logits, targets, reduction="none")
    wanted = (each * weights[targets]).mean(dim=(1, 2))
    torch.testing.assert_close(pixel_cross_entropy(logits, targets, class_weights=weights), wanted)


def test_soft_dice_by_hand() -> None:
    # Class 0: p = 3/4 and 1/4, t = 1 and 1: (2 * 1 + 1) / (1 + 2 + 1). Class 1, which is not
    # there: p = 1/4 and 3/4: 1 / (1 + 0 + 1).
    wanted = 1 - (3 / 4 + 1 / 2) / 2
    assert soft_dice(LOGITS, TARGETS).tolist() == pytest.approx([wanted])


def test_soft_dice_of_the_truth_is_0_and_of_its_opposite_nearly_1() -> None:
    targets = torch.randint(2, (2, 16, 16), generator=torch.Generator().manual_seed(0))
    truth = F.one_hot(targets, 2).movedim(-1, 1).double()
    assert soft_dice(100 * truth, targets).tolist() == pytest.approx([0, 0], abs=1e-9)
    assert (soft_dice(-100 * truth, targets) > 0.98).all()
    blank = torch.zeros(1, 4, 4)
    assert soft_dice(torch.tensor([100.0, 0.0]).view(1, 2, 1, 1).expand(1, 2, 4, 4), blank) == 0


def test_a_rare_class_that_is_missed_costs_half_of_dice_but_little_of_cross_entropy() -> None:
    targets = torch.zeros(1, 32, 32, dtype=torch.int64)
    targets[:, :2, :16] = 1  # 3 % of the pixels
    always_0 = torch.tensor([4.0, 0.0]).view(1, 2, 1, 1).expand(1, 2, 32, 32)
    assert soft_dice(always_0, targets).item() > 0.45
    assert pixel_cross_entropy(always_0, targets).item() < 0.15


def test_both_together_are_their_sum() -> None:
    logits, targets = examples()
    wanted = pixel_cross_entropy(logits, targets) + soft_dice(logits, targets)
    torch.testing.assert_close(cross_entropy_dice(logits, targets), wanted)


def test_ignored_pixels_leave_the_mean_to_the_others() -> None:
    logits, targets = examples()
    ignored = targets.clone()
    ignored[:2, :, ::2] = 255
    ignored[2] = 255
    weights = torch.tensor([2.0, 0.5, 1.0, 1.0], dtype=torch.float64)
    found = pixel_cross_entropy(logits, ignored, ignore_index=255)
    for row in range(2):
        wanted = F.cross_entropy(logits[row : row + 1], ignored[row : row + 1], ignore_index=255)
        torch.testing.assert_close(found[row], wanted)
    assert found[2] == 0
    for loss in (pixel_cross_entropy, soft_dice, cross_entropy_dice):
        cut = loss(logits[:2, :, :, 1::2], targets[:2, :, 1::2], class_weights=weights)
        whole = loss(logits, ignored, class_weights=weights, ignore_index=255)
        torch.testing.assert_close(whole[:2], cut)


def test_the_weight_of_a_class_is_its_part_in_the_mean_of_dice() -> None:
    weights = torch.tensor([3.0, 1.0], dtype=torch.float64)
    wanted = 1 - (3 * 3 / 4 + 1 / 2) / 4  # the overlaps of `test_soft_dice_by_hand`
    assert soft_dice(LOGITS, TARGETS, class_weights=weights).tolist() == pytest.approx([wanted])
