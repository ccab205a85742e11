"""Focal loss: cross-entropy at gamma 0, by hand, and finite where it is certain."""

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import generator
from netwright.losses.classification import binary_cross_entropy, cross_entropy
from netwright.losses.focal import focal, label_focal, pixel_focal, token_focal
from netwright.losses.segmentation import pixel_cross_entropy
from netwright.losses.sequence import token_cross_entropy
from tests.losses.test_catalog import examples
from tests.repetition import for_each

# The softmax of (log 3, 0) is 3/4 and 1/4.
LOGITS = torch.tensor([[math.log(3), 0.0], [math.log(3), 0.0]], dtype=torch.float64)
CLASSES = torch.tensor([0, 1])


def test_by_hand() -> None:
    wanted = [-((1 / 4) ** 2) * math.log(3 / 4), -((3 / 4) ** 2) * math.log(1 / 4)]
    assert focal(LOGITS, CLASSES).tolist() == pytest.approx(wanted)
    wanted = [-((1 / 4) ** 0.5) * math.log(3 / 4), -((3 / 4) ** 0.5) * math.log(1 / 4)]
    assert focal(LOGITS, CLASSES, gamma=0.5).tolist() == pytest.approx(wanted)


@for_each(
    ("kind", "ours", "plain"),
    [
        ("class", focal, cross_entropy),
        ("mask", pixel_focal, pixel_cross_entropy),
        ("tokens", token_focal, token_cross_entropy),
        ("labels", label_focal, binary_cross_entropy),
    ],
)
def test_without_gamma_it_is_cross_entropy(kind: Any, ours: Any, plain: Any) -> None:
    outputs, targets = examples(kind)
    targets = targets.long()
    targets[0].fill_(-100)
    options = {"class_weights": torch.tensor([0.5, 3.0, 2.0, 1.0]).double(), "ignore_index": -100}
    for reduction in ("none", "mean", "sum"):
        torch.testing.assert_close(
            ours(outputs, targets, reduction, gamma=0.0, **options),
            plain(outputs, targets, reduction, **options),
        )


def test_of_labels_it_is_the_published_formula() -> None:
    rng = generator(1)
    logits = torch.randn(6, 3, generator=rng, dtype=torch.float64)
    yes = torch.randint(2, (6, 3), generator=rng).double()
    chances = logits.sigmoid()
    right = chances * yes + (1 - chances) * (1 - yes)
    each = F.binary_cross_entropy_with_logits(logits, yes, reduction="none") * (1 - right) ** 2
    torch.testing.assert_close(label_focal(logits, yes, "mean"), each.mean())


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_a_certain_answer_has_no_loss_and_a_finite_gradient(gamma: float) -> None:
    logits = torch.tensor([[500.0, 0.0], [-500.0, 0.0]], requires_grad=True)
    losses = focal(logits, torch.zeros(2, dtype=torch.int64), gamma=gamma)
    (slope,) = torch.autograd.grad(losses.sum(), logits)
    assert losses.tolist() == [0.0, 500.0]
    assert slope.isfinite().all()


def test_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^gamma must not be negative, got -1$"):
        focal(LOGITS, CLASSES, gamma=-1)
    with pytest.raises(DataError, match=r"^focal loss is of one class, got targets \(2, 2\)$"):
        focal(LOGITS, torch.full((2, 2), 0.5))
