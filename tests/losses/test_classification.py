"""Cross-entropy and margins: worked by hand, beside torch's and scikit-learn's."""

import math
from typing import Any

import pytest
import torch
from sklearn.metrics import hinge_loss, log_loss
from torch.nn import functional as F

from netwright.core.errors import DataError
from netwright.core.seeding import generator
from netwright.losses.classification import (
    binary_cross_entropy,
    cross_entropy,
    hinge,
    label_hinge,
    label_perceptron,
    margins,
    negative_log_likelihood,
    perceptron,
)
from netwright.losses.loss import Reduction
from tests.repetition import for_each

LOGITS = torch.tensor([[2.0, 0.0, 1.5], [0.0, 3.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
CLASSES = torch.tensor([0, 2, 1])


def test_margins_by_hand() -> None:
    assert margins(LOGITS, CLASSES).tolist() == [0.5, -2.0, 0.0]
    assert hinge(LOGITS, CLASSES).tolist() == [0.5, 3.0, 1.0]
    assert perceptron(LOGITS, CLASSES).tolist() == [0.0, 2.0, 0.0]


def test_hinge_is_the_one_of_crammer_and_singer() -> None:
    rng = generator(1)
    logits = torch.randn(200, 5, generator=rng, dtype=torch.float64)
    classes = torch.randint(5, (200,), generator=rng)
    expected = hinge_loss(classes.numpy(), logits.numpy(), labels=range(5))
    assert hinge(logits, classes, "mean").item() == pytest.approx(expected, abs=1e-14)


def test_cross_entropy_of_equal_logits_is_the_log_of_the_classes() -> None:
    assert cross_entropy(LOGITS, CLASSES)[2].item() == pytest.approx(math.log(3), abs=1e-15)


def test_cross_entropy_as_scikit_learn_has_it() -> None:
    shares = LOGITS.softmax(dim=1).numpy()
    expected = log_loss(CLASSES.numpy(), shares, labels=range(3))
    assert cross_entropy(LOGITS, CLASSES, "mean").item() == pytest.approx(expected, abs=1e-14)


def test_likelihoods_of_log_probabilities_are_cross_entropies() -> None:
    torch.testing.assert_close(
        negative_log_likelihood(LOGITS.log_softmax(dim=1), CLASSES), cross_entropy(LOGITS, CLASSES)
    )


def test_soft_targets_mix_the_losses_of_the_classes() -> None:
    soft = torch.tensor([[0.7, 0.1, 0.2]] * 3, dtype=torch.float64)
    of_class = torch.stack([cross_entropy(LOGITS, torch.full((3,), c)) for c in range(3)], dim=1)
    torch.testing.assert_close(cross_entropy(LOGITS, soft), (soft * of_class).sum(dim=1))


def test_hard_targets_as_probabilities_are_the_same_loss() -> None:
    hard = F.one_hot(CLASSES, 3).double()
    torch.testing.assert_close(cross_entropy(LOGITS, hard), cross_entropy(LOGITS, CLASSES))


def test_a_margin_has_no_soft_targets() -> None:
    with pytest.raises(DataError, match=r"a margin is that of one class, got targets \(3, 3\)"):
        hinge(LOGITS, torch.full((3, 3), 1 / 3))


def test_labels_by_hand() -> None:
    logits = torch.tensor([[2.0, -0.5], [0.25, 0.0]])
    yes = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    assert label_hinge(logits, yes).tolist() == [0.75, 1.125]  # (0, 1.5), (1.25, 1)
    assert label_perceptron(logits, yes).tolist() == [0.25, 0.125]  # (0, .5), (.25, 0)
    expected = F.binary_cross_entropy(logits.sigmoid(), yes, reduction="none").mean(dim=1)
    torch.testing.assert_close(binary_cross_entropy(logits, yes), expected)


WEIGHTS = torch.tensor([0.5, 3.0, 2.0], dtype=torch.float64)
IGNORED = torch.tensor([0, 7, 1])


@for_each("reduction", ["none", "mean", "sum"])
@for_each("smoothing", [0.0, 0.2])
def test_weights_and_the_ignored_target_of_cross_entropy_are_torchs(
    reduction: Reduction, smoothing: float
) -> None:
    options: Any = {"reduction": reduction, "ignore_index": 7}
    torch.testing.assert_close(
        cross_entropy(LOGITS, IGNORED, smoothing=smoothing, class_weights=WEIGHTS, **options),
        F.cross_entropy(LOGITS, IGNORED, WEIGHTS, label_smoothing=smoothing, **options),
    )
    torch.testing.assert_close(
        negative_log_likelihood(LOGITS, IGNORED, class_weights=WEIGHTS, **options),
        F.nll_loss(LOGITS, IGNORED, WEIGHTS, **options),
    )


@pytest.mark.parametrize("loss", [hinge, perceptron])
def test_a_weighted_margin_by_hand(loss: Any) -> None:
    plain = loss(LOGITS, CLASSES)
    found = loss(LOGITS, IGNORED, class_weights=WEIGHTS, ignore_index=7)
    assert found.tolist() == [0.5 * plain[0], 0.0, 3.0 * plain[2]]
    mean = loss(LOGITS, IGNORED, "mean", class_weights=WEIGHTS, ignore_index=7)
    assert mean.item() == pytest.approx(found.sum().item() / (0.5 + 3.0), abs=1e-15)


def test_weights_of_labels_are_torchs() -> None:
    yes = torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    found = binary_cross_entropy(LOGITS, yes, "mean", class_weights=WEIGHTS, pos_weight=WEIGHTS)
    wanted = F.binary_cross_entropy_with_logits(LOGITS, yes, WEIGHTS, pos_weight=WEIGHTS)
    torch.testing.assert_close(found, wanted)


def test_an_ignored_label_leaves_the_mean_to_the_others() -> None:
    yes = torch.tensor([[1, -1, 0], [-1, -1, -1], [1, 1, 1]])
    for loss in (binary_cross_entropy, label_hinge, label_perceptron):
        found = loss(LOGITS, yes, ignore_index=-1)
        torch.testing.assert_close(found[:1], loss(LOGITS[:1, [0, 2]], yes[:1, [0, 2]]))
        assert found[1] == 0
