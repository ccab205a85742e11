"""Classification: matrices by hand, parity with scikit-learn, matrices that add, and refusals."""

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, NetwrightError, ShapeError
from netwright.metrics.classification import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    error_ratio,
    f1,
    precision,
    recall,
)
from tests.repetition import for_each

# Rows are targets, columns predictions. Of 10 samples: 5 of class 0, 3 of class 1, 2 of class 2.
THREE = torch.tensor([[4, 1, 0], [1, 2, 0], [0, 1, 1]])
FORMULAS = (accuracy, balanced_accuracy, precision, recall, f1)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Tensor, Tensor, int, Tensor | None]:
    """Targets, predictions, number of classes and perhaps weights; classes may be missing."""
    num_classes, num_samples = draw(st.integers(2, 6)), draw(st.integers(1, 30))
    one_class = st.integers(0, num_classes - 1)
    many = st.lists(one_class, min_size=num_samples, max_size=num_samples)
    weight = st.sampled_from([0.25, 0.5, 1.0, 3.0])
    some = st.lists(weight, min_size=num_samples, max_size=num_samples)
    weights = draw(st.none() | some)
    return (
        torch.tensor(draw(many)),
        torch.tensor(draw(many)),
        num_classes,
        None if weights is None else torch.tensor(weights),
    )


def quietly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """scikit-learn's value without its warning that a class is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def test_counts_by_hand() -> None:
    targets, predicted = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([0, 2, 1, 1, 0])
    confusion = confusion_matrix(targets, predicted, 3)
    assert confusion.tolist() == [[1, 0, 1], [1, 2, 0], [0, 0, 0]]
    assert confusion.dtype == torch.int64


def test_weights_are_summed_by_hand() -> None:
    targets, predicted = torch.tensor([0, 0, 1]), torch.tensor([1, 1, 1])
    confusion = confusion_matrix(targets, predicted, 2, torch.tensor([0.5, 2.0, 4.0]))
    assert confusion.tolist() == [[0.0, 2.5], [0.0, 4.0]]


@for_each(
    ("formula", "by_hand"),
    [
        (accuracy, 7 / 10),
        (balanced_accuracy, (4 / 5 + 2 / 3 + 1 / 2) / 3),
        (precision, (4 / 5 + 2 / 4 + 1 / 1) / 3),
        (recall, (4 / 5 + 2 / 3 + 1 / 2) / 3),
        (f1, (2 * 4 / (5 + 5) + 2 * 2 / (4 + 3) + 2 * 1 / (1 + 2)) / 3),
    ],
)
def test_formulas_by_hand(formula: Callable[[Tensor], float], by_hand: float) -> None:
    assert formula(THREE) == pytest.approx(by_hand, abs=1e-12)


def test_two_classes_give_the_numbers_of_class_one() -> None:
    confusion = torch.tensor([[90, 4], [2, 6]])
    assert precision(confusion) == 6 / 10
    assert recall(confusion) == 6 / 8
    assert f1(confusion) == pytest.approx(2 * 0.6 * 0.75 / (0.6 + 0.75), abs=1e-12)


@pytest.mark.covers("accuracy-test-error")
def test_twenty_mistakes_of_ten_thousand_are_an_error_of_a_fifth_of_a_percent() -> None:
    targets = torch.arange(10_000) % 10
    predicted = targets.clone()
    predicted[:20] = (predicted[:20] + 1) % 10
    assert 1 - accuracy(confusion_matrix(targets, predicted, 10)) == pytest.approx(0.002, abs=1e-12)


@pytest.mark.covers("difficulty-near-100")
def test_a_point_is_worth_more_near_the_top() -> None:
    assert error_ratio(0.98, 0.99) == pytest.approx(0.5)
    assert error_ratio(0.75, 0.76) == pytest.approx(0.96)
    assert math.isnan(error_ratio(1.0, 0.9))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(answers())
def test_formulas_are_those_of_scikit_learn(
    case: tuple[Tensor, Tensor, int, Tensor | None],
) -> None:
    targets, predicted, num_classes, weights = case
    confusion = confusion_matrix(targets, predicted, num_classes, weights)
    options = {"sample_weight": weights}
    averaged = {
        **options,
        "average": "binary" if num_classes == 2 else "macro",
        "zero_division": 0.0,
    }
    pairs: list[tuple[Any, Any]] = [
        (
            confusion.tolist(),
            reference.confusion_matrix(targets, predicted, labels=range(num_classes), **options),
        ),
        (accuracy(confusion), reference.accuracy_score(targets, predicted, **options)),
        (
            balanced_accuracy(confusion),
            quietly(reference.balanced_accuracy_score, targets, predicted, **options),
        ),
        (precision(confusion), reference.precision_score(targets, predicted, **averaged)),
        (recall(confusion), reference.recall_score(targets, predicted, **averaged)),
        (f1(confusion), reference.f1_score(targets, predicted, **averaged)),
    ]
    for ours, theirs in pairs:
        assert torch.allclose(torch.tensor(ours).double(), torch.tensor(theirs).double())


@settings(derandomize=True, deadline=None, max_examples=30)
@given(answers(), st.integers(1, 29))
def test_the_matrix_of_all_is_the_sum_of_the_matrices_of_the_parts(
    case: tuple[Tensor, Tensor, int, Tensor | None], cut: int
) -> None:
    targets, predicted, num_classes, weights = case
    cut = min(cut, len(targets) - 1)
    if cut == 0:
        return
    parts = [
        confusion_matrix(
            targets[part],
            predicted[part],
            num_classes,
            None if weights is None else weights[part],
        )
        for part in (slice(cut), slice(cut, None))
    ]
    whole = confusion_matrix(targets, predicted, num_classes, weights)
    assert torch.equal(whole, parts[0] + parts[1])


def test_a_class_that_occurs_nowhere_changes_nothing() -> None:
    with_empty = torch.zeros(5, 5, dtype=torch.int64)
    with_empty[:3, :3] = THREE
    for formula in FORMULAS:
        assert formula(with_empty) == pytest.approx(formula(THREE), abs=1e-12)


def test_a_class_that_is_only_called_counts_zero_but_not_in_balanced_accuracy() -> None:
    confusion = torch.tensor([[3, 0, 1], [0, 4, 0], [0, 0, 0]])
    assert balanced_accuracy(confusion) == pytest.approx((3 / 4 + 1) / 2)
    assert recall(confusion) == pytest.approx((3 / 4 + 1 + 0) / 3)
    assert precision(confusion) == pytest.approx((1 + 1 + 0) / 3)


@for_each("formula", FORMULAS, ids=lambda formula: formula.__name__)
@for_each("num_classes", [2, 3])
def test_a_matrix_of_nothing_has_no_value(
    formula: Callable[[Tensor], float], num_classes: int
) -> None:
    assert math.isnan(formula(torch.zeros(num_classes, num_classes)))


def test_all_wrong_is_zero_and_not_a_division_by_zero() -> None:
    nothing_found = torch.tensor([[5, 0], [3, 0]])
    assert precision(nothing_found) == recall(nothing_found) == f1(nothing_found) == 0.0


ONE = torch.tensor([0, 1])


@for_each(
    ("call", "error", "sentence"),
    [
        (
            lambda: confusion_matrix(ONE[:0], ONE[:0], 2),
            ShapeError,
            "targets must not be empty, got shape (0,)",
        ),
        (
            lambda: confusion_matrix(ONE[:, None], ONE, 2),
            ShapeError,
            "targets must have shape (N), got (2, 1)",
        ),
        (
            lambda: confusion_matrix(ONE, ONE[:, None], 2),
            ShapeError,
            "predicted must have shape (2), got (2, 1)",
        ),
        (
            lambda: confusion_matrix(ONE, ONE + 1, 2),
            DataError,
            "predicted must lie in [0, 2), got 2",
        ),
        (
            lambda: confusion_matrix(ONE - 1, ONE, 2),
            DataError,
            "targets must lie in [0, 2), got -1",
        ),
        (
            lambda: confusion_matrix(ONE, ONE, 2, -torch.ones(2)),
            DataError,
            "weights must not be negative, got -1.0",
        ),
        (lambda: confusion_matrix(ONE, ONE, 0), ConfigError, "num_classes must be positive, got 0"),
        (
            lambda: accuracy(torch.ones(2, 3)),
            ShapeError,
            "confusion must have shape (C, C), got (2, 3)",
        ),
        (lambda: f1(torch.ones(4)), ShapeError, "confusion must have shape (C, C), got (4,)"),
        (
            lambda: recall(torch.ones(0, 0)),
            ShapeError,
            "confusion must have shape (C, C), got (0, 0)",
        ),
        (
            lambda: error_ratio(98, 99),
            ConfigError,
            "before must be an accuracy in [0, 1], got 98",
        ),
        (
            lambda: error_ratio(0.5, float("nan")),
            ConfigError,
            "after must be an accuracy in [0, 1], got nan",
        ),
    ],
)
def test_refuses_in_one_sentence(
    call: Callable[[], Any], error: type[NetwrightError], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()
