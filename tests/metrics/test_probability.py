"""Probabilities: losses by hand, parity with scikit-learn, ties, and refusals."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, NetwrightError, ShapeError
from netwright.metrics.probability import brier, log_loss, smallest_probability, top_k_accuracy
from tests.repetition import for_each

Case = tuple[Tensor, Tensor, Tensor | None]


@st.composite
def forecasts(draw: st.DrawFn) -> Case:
    """Probabilities (N, C) with many ties, targets (N,), and perhaps weights (N,)."""
    num_samples, num_classes = draw(st.integers(1, 25)), draw(st.integers(2, 6))
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    parts = torch.randint(1, 4, (num_samples, num_classes), generator=seed).double()
    targets = torch.randint(0, num_classes, (num_samples,), generator=seed)
    weights = torch.randint(1, 5, (num_samples,), generator=seed) / 2
    return parts / parts.sum(dim=1, keepdim=True), targets, weights if draw(st.booleans()) else None


PROPERTY = settings(derandomize=True, deadline=None, max_examples=40)
TWO = torch.tensor([[0.5, 0.5], [0.75, 0.25]])
THREE = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])


def test_log_loss_by_hand() -> None:
    # -(log 1/2 + log 1/4) / 2 = 3/2 log 2; weighted 1 : 3 it is (1 + 3 * 2) / 4 log 2.
    targets = torch.tensor([0, 2])
    assert log_loss(THREE, targets) == pytest.approx(1.5 * math.log(2))
    weighted = log_loss(THREE, targets, torch.tensor([1.0, 3.0]))
    assert weighted == pytest.approx(1.75 * math.log(2))


def test_log_loss_of_knowing_nothing_is_log_of_the_number_of_classes() -> None:
    even = torch.full((7, 4), 0.25)
    assert log_loss(even, torch.arange(7) % 4) == pytest.approx(math.log(4))


def test_log_loss_of_certainty_is_zero_or_large_but_finite() -> None:
    sure = torch.eye(3)
    assert log_loss(sure, torch.arange(3)) == 0.0
    wrong = torch.tensor([1, 2, 0])
    assert log_loss(sure, wrong) == pytest.approx(23 * math.log(2))  # float32: eps = 2^-23
    assert log_loss(sure.double(), wrong) == pytest.approx(52 * math.log(2))  # float64: 2^-52


def test_half_precision_is_not_cut_at_its_own_coarse_unit() -> None:
    assert smallest_probability(torch.zeros(1, dtype=torch.bfloat16)) == 2**-23


def test_brier_of_two_classes_by_hand() -> None:
    # (1/2 - 0)^2 = 1/4 and (1/4 - 1)^2 = 9/16; the mean is 13/32.
    assert brier(TWO, torch.tensor([0, 1])) == 13 / 32


def test_brier_of_three_classes_by_hand() -> None:
    # 1/4 + 1/16 + 1/16 = 3/8 and 1/16 + 1/4 + 9/16 = 7/8; weighted 1 : 3 it is (3 + 21) / 32.
    targets = torch.tensor([0, 2])
    assert brier(THREE, targets) == 5 / 8
    assert brier(THREE, targets, torch.tensor([1.0, 3.0])) == 3 / 4


def test_top_k_by_hand() -> None:
    scores = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.4, 0.1, 0.3, 0.2]])
    targets = torch.tensor([3, 2, 1])  # ranks 1, 3 and 4
    assert [top_k_accuracy(scores, targets, k) for k in (1, 2, 3, 4, 9)] == pytest.approx(
        [1 / 3, 1 / 3, 2 / 3, 1, 1]
    )
    assert top_k_accuracy(scores, targets, 1, torch.tensor([2.0, 1.0, 1.0])) == 0.5


def test_among_equals_the_lower_class_leads() -> None:
    even = torch.full((3, 3), 1 / 3)
    assert [top_k_accuracy(even, torch.arange(3), k) for k in (1, 2, 3)] == pytest.approx(
        [1 / 3, 2 / 3, 1]
    )


@PROPERTY
@given(forecasts())
def test_losses_are_those_of_scikit_learn(case: Case) -> None:
    probabilities, targets, weights = case
    labels = range(probabilities.shape[1])
    theirs = reference.log_loss(targets, probabilities, labels=labels, sample_weight=weights)
    assert log_loss(*case) == pytest.approx(theirs)
    theirs = reference.brier_score_loss(
        targets,
        probabilities[:, 1] if len(labels) == 2 else probabilities,
        labels=labels,
        sample_weight=weights,
        **({"pos_label": 1} if len(labels) == 2 else {}),
    )
    assert brier(*case) == pytest.approx(theirs)


@PROPERTY
@given(forecasts(), st.integers(1, 5))
def test_top_k_is_that_of_scikit_learn_read_from_the_other_end(case: Case, k: int) -> None:
    # Among equals scikit-learn lets the higher class lead, so its classes are counted backwards.
    probabilities, targets, weights = case
    num_classes = probabilities.shape[1]
    k = min(k, num_classes - 1)
    theirs = reference.top_k_accuracy_score(
        num_classes - 1 - targets,
        probabilities[:, 0] if num_classes == 2 else probabilities.flip(1),
        k=k,
        labels=range(num_classes),
        sample_weight=weights,
    )
    if num_classes > 2:  # of two, scikit-learn asks for p > 1/2 instead
        assert top_k_accuracy(probabilities, targets, k, weights) == pytest.approx(theirs)


@PROPERTY
@given(forecasts())
def test_top_one_is_the_accuracy_of_argmax(case: Case) -> None:
    probabilities, targets, weights = case
    hits = (probabilities.argmax(dim=1) == targets).double()
    amounts = torch.ones(len(targets)) if weights is None else weights
    by_argmax = float((hits * amounts).sum() / amounts.sum())
    assert top_k_accuracy(probabilities, targets, 1, weights) == pytest.approx(by_argmax)


def test_a_model_in_training_can_be_measured() -> None:
    probabilities = THREE.clone().requires_grad_()
    targets = torch.tensor([0, 2])
    assert brier(probabilities, targets) == brier(THREE, targets)
    assert log_loss(probabilities, targets) == log_loss(THREE, targets)
    assert top_k_accuracy(probabilities, targets, 1) == 0.5


TARGETS = torch.tensor([0, 1])


@for_each(
    ("call", "error", "sentence"),
    [
        (
            lambda: log_loss(torch.tensor([[2.0, -1.0], [0.0, 1.0]]), TARGETS),
            DataError,
            "probabilities must lie in [0, 1], got -1",
        ),
        (
            lambda: brier(torch.full((2, 3), 0.5), TARGETS),
            DataError,
            "a row of probabilities must sum to 1, got 1.5 in row 0",
        ),
        (
            lambda: brier(TWO, TARGETS + 1),
            DataError,
            "targets must lie in [0, 2), got 2",
        ),
        (
            lambda: log_loss(TWO[:0], TARGETS[:0]),
            ShapeError,
            "probabilities must not be empty, got shape (0, 2)",
        ),
        (
            lambda: log_loss(TWO, TARGETS.double()),
            DataError,
            "targets must be int64, got torch.float64",
        ),
        (lambda: top_k_accuracy(TWO, TARGETS, 0), ConfigError, "k must be positive, got 0"),
        (
            lambda: top_k_accuracy(TWO * float("inf"), TARGETS, 1),
            DataError,
            "probabilities must be finite, got inf at [0, 0] (4 in all)",
        ),
    ],
)
def test_refuses_in_one_sentence(
    call: Callable[[], float], error: type[NetwrightError], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()
