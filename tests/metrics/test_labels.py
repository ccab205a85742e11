"""Labels: answers by hand, parity with scikit-learn label by label, and refusals."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import DataError, NetwrightError, ShapeError
from netwright.metrics.labels import (
    is_yes,
    label_accuracy,
    label_brier,
    label_f1,
    label_log_loss,
    subset_accuracy,
)
from tests.repetition import for_each

Case = tuple[Tensor, Tensor, Tensor | None]
PROBABILITIES = torch.tensor([[0.75, 0.25], [0.75, 0.75], [0.25, 0.5]])  # yes no, yes yes, no no
TARGETS = torch.tensor([[1, 0], [1, 0], [1, 1]])


@st.composite
def tagged(draw: st.DrawFn) -> Case:
    """Probabilities in eighths, labels of 0 and 1 (also all alike), and perhaps weights."""
    num_samples, num_labels = draw(st.integers(1, 20)), draw(st.integers(1, 5))
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    probabilities = torch.randint(0, 9, (num_samples, num_labels), generator=seed).double() / 8
    targets = torch.rand(num_samples, num_labels, generator=seed) < draw(
        st.sampled_from([0.1, 0.5])
    )
    weights = torch.randint(1, 5, (num_samples,), generator=seed) / 2
    return probabilities, targets.long(), weights if draw(st.booleans()) else None


def test_accuracies_by_hand() -> None:
    # Right labels: 2, 1 and 0 of 2; only the first sample is right as a whole.
    assert label_accuracy(PROBABILITIES, TARGETS) == 3 / 6
    assert subset_accuracy(PROBABILITIES, TARGETS) == pytest.approx(1 / 3)
    weights = torch.tensor([2.0, 1.0, 1.0])
    assert label_accuracy(PROBABILITIES, TARGETS, weights) == (2 * 2 + 1) / 8
    assert subset_accuracy(PROBABILITIES, TARGETS, weights) == 2 / 4


def test_f1_by_hand() -> None:
    # Label 0: 2 hits, 2 called, 3 true: 4/5. Label 1: no hit, 1 called, 1 true: 0.
    assert label_f1(PROBABILITIES, TARGETS) == pytest.approx((4 / 5 + 0) / 2)


def test_losses_by_hand() -> None:
    # The true answers got 3/4 3/4, 3/4 1/4 and 1/4 1/2.
    chances = [0.75, 0.75, 0.75, 0.25, 0.25, 0.5]
    assert label_log_loss(PROBABILITIES, TARGETS) == pytest.approx(
        -sum(math.log(chance) for chance in chances) / 6
    )
    assert label_brier(PROBABILITIES, TARGETS) == sum((1 - chance) ** 2 for chance in chances) / 6


def test_a_yes_is_above_the_threshold() -> None:
    assert is_yes(torch.tensor([0.25, 0.5, 0.75])).tolist() == [False, False, True]
    assert is_yes(torch.tensor([0.25, 0.5, 0.75]), 0.25).tolist() == [False, True, True]


def test_one_half_is_a_no() -> None:
    assert label_accuracy(torch.tensor([[0.5]]), torch.tensor([[0]])) == 1.0


def test_certainty_is_zero_or_large_but_finite() -> None:
    right = torch.tensor([[1.0, 0.0]])
    assert label_log_loss(right, right) == 0.0
    assert label_log_loss(right, 1 - right) == pytest.approx(23 * math.log(2))  # eps = 2^-23


@settings(derandomize=True, deadline=None, max_examples=40)
@given(tagged())
def test_values_are_those_of_scikit_learn(case: Case) -> None:
    probabilities, targets, weights = case
    answers = (probabilities > 0.5).long()
    # A second label that is never there makes one column "multilabel" to scikit-learn too.
    wide_targets, wide_answers = F.pad(targets, (0, 1)), F.pad(answers, (0, 1))
    num_labels = targets.shape[1]
    hamming = reference.hamming_loss(wide_targets, wide_answers, sample_weight=weights)
    assert label_accuracy(*case) == pytest.approx(1 - hamming * (num_labels + 1) / num_labels)
    assert subset_accuracy(*case) == pytest.approx(
        reference.accuracy_score(wide_targets, wide_answers, sample_weight=weights)
    )
    f1_of_labels = reference.f1_score(
        wide_targets, wide_answers, average=None, zero_division=0.0, sample_weight=weights
    )
    assert label_f1(*case) == pytest.approx(f1_of_labels[:num_labels].mean())


@settings(derandomize=True, deadline=None, max_examples=40)
@given(tagged())
def test_losses_are_means_of_those_of_scikit_learn_for_each_label(case: Case) -> None:
    probabilities, targets, weights = case
    columns = list(zip(targets.T, probabilities.T, strict=True))
    log_losses = [
        reference.log_loss(target, chance, labels=[0, 1], sample_weight=weights)
        for target, chance in columns
    ]
    briers = [
        reference.brier_score_loss(
            target, chance, labels=[0, 1], pos_label=1, sample_weight=weights
        )
        for target, chance in columns
    ]
    assert label_log_loss(*case) == pytest.approx(sum(log_losses) / len(columns))
    assert label_brier(*case) == pytest.approx(sum(briers) / len(columns))


@for_each("measure", [label_accuracy, subset_accuracy, label_f1, label_log_loss, label_brier])
@for_each(
    ("probabilities", "targets", "error", "sentence"),
    [
        (
            PROBABILITIES,
            TARGETS[:, 0],
            ShapeError,
            "targets must have shape (3, 2), got (3,)",
        ),
        (
            PROBABILITIES[:0],
            TARGETS[:0],
            ShapeError,
            "probabilities must not be empty, got shape (0, 2)",
        ),
        (PROBABILITIES, TARGETS * 2, DataError, "targets must be 0 or 1, got 2"),
        (PROBABILITIES * 8, TARGETS, DataError, "probabilities must lie in [0, 1], got 6"),
    ],
)
def test_refuses_in_one_sentence(
    measure: Callable[[Tensor, Tensor], float],
    probabilities: Tensor,
    targets: Tensor,
    error: type[NetwrightError],
    sentence: str,
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        measure(probabilities, targets)
