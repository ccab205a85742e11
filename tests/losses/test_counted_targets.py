"""Which targets count: by hand."""

import math

import pytest
import torch

from netwright.losses.counted_targets import (
    known_classes,
    label_loss,
    reduce_weighted,
    target_weights,
)

TARGETS = torch.tensor([2, -100, 0])
WEIGHTS = torch.tensor([0.5, 3.0, 2.0])


def test_what_is_left_out_can_be_looked_up_and_weighs_nothing() -> None:
    assert known_classes(TARGETS, -100).tolist() == [2, 0, 0]
    weights = target_weights(TARGETS, WEIGHTS, -100, like=torch.zeros((), dtype=torch.float64))
    assert weights.dtype == torch.float64
    assert weights.tolist() == [2.0, 0.0, 0.5]
    assert target_weights(TARGETS, None, -100, like=WEIGHTS).tolist() == [1.0, 0.0, 1.0]


def test_the_mean_is_over_the_weights() -> None:
    losses, weights = torch.tensor([1.0, 5.0, 4.0]), torch.tensor([2.0, 0.0, 0.5])
    assert reduce_weighted(losses, weights, "none").tolist() == [2.0, 0.0, 2.0]
    assert reduce_weighted(losses, weights, "sum").item() == 4.0
    assert reduce_weighted(losses, weights, "mean").item() == pytest.approx(1.6)
    assert math.isnan(reduce_weighted(losses, torch.zeros(3), "mean").item())  # as torch's


def test_labels_that_count_share_the_mean() -> None:
    each, targets = torch.tensor([[1.0, 3.0], [4.0, 6.0]]), torch.tensor([[1, -1], [0, 1]])
    assert label_loss(each, targets, "none", None, None).tolist() == [2.0, 5.0]
    assert label_loss(each, targets, "none", None, -1).tolist() == [1.0, 5.0]
    assert label_loss(each, targets, "sum", torch.tensor([2.0, 0.0]), -1).item() == 2.0 + 4.0
