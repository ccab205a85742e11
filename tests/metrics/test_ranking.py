"""Ranking: areas by hand, parity with scikit-learn under ties and weights, and what has no area."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import DataError, NetwrightError, ShapeError
from netwright.metrics import ranking
from netwright.metrics.ranking import average_precision, roc_auc
from tests.repetition import for_each

Case = tuple[Tensor, Tensor, Tensor | None]
PROPERTY = settings(derandomize=True, deadline=None, max_examples=40)


def of_two(*scores: float) -> Tensor:
    """Scores of class 1 as the second of two columns."""
    positive = torch.tensor(scores)
    return torch.stack((1 - positive, positive), dim=1)


@st.composite
def scored(draw: st.DrawFn) -> Case:
    """Scores (N, C) from few levels, so with many ties; targets (N,); perhaps weights (N,)."""
    num_samples, num_classes = draw(st.integers(2, 30)), draw(st.integers(2, 5))
    levels = draw(st.integers(1, 8))
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    scores = torch.randint(0, levels, (num_samples, num_classes), generator=seed).double()
    targets = torch.randint(0, num_classes, (num_samples,), generator=seed)
    weights = torch.randint(1, 5, (num_samples,), generator=seed) / 2
    return scores, targets, weights if draw(st.booleans()) else None


def pairs_won(scores: Tensor, positive: Tensor, weights: Tensor) -> float:
    """The area by its meaning: every positive meets every negative."""
    won = total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if positive[i] and not positive[j]:
                pair = float(weights[i] * weights[j])
                total += pair
                won += pair * (float(scores[i] > scores[j]) + float(scores[i] == scores[j]) / 2)
    return won / total


def test_roc_auc_by_hand() -> None:
    # Positives 0.8 and 0.4, negatives 0.6 and 0.2: of 4 pairs only (0.4, 0.6) is lost.
    assert roc_auc(of_two(0.8, 0.6, 0.4, 0.2), torch.tensor([1, 0, 1, 0])) == 3 / 4


def test_average_precision_by_hand() -> None:
    # The positives come in first (precision 1) and third (precision 2/3).
    targets = torch.tensor([1, 0, 1, 0])
    assert average_precision(of_two(0.8, 0.6, 0.4, 0.2), targets) == pytest.approx((1 + 2 / 3) / 2)


def test_ties_by_hand() -> None:
    # A positive and a negative share 0.5 and come in together: half a pair won, precision 2/3.
    scores, targets = of_two(0.9, 0.5, 0.5, 0.1), torch.tensor([1, 1, 0, 0])
    assert roc_auc(scores, targets) == 3.5 / 4
    assert average_precision(scores, targets) == pytest.approx((1 + 2 / 3) / 2)


def test_scores_that_say_nothing_are_chance() -> None:
    scores, targets = of_two(*[0.5] * 5), torch.tensor([1, 0, 0, 0, 0])
    assert roc_auc(scores, targets) == 0.5
    assert average_precision(scores, targets) == 1 / 5


def test_more_classes_are_the_mean_of_one_against_the_rest() -> None:
    # Class 0 is perfect (1), class 1 wins 1 of 2 pairs, class 2 wins none of 2.
    scores = torch.tensor([[0.9, 0.4, 0.3], [0.1, 0.3, 0.5], [0.2, 0.2, 0.1]])
    assert roc_auc(scores, torch.tensor([0, 1, 2])) == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_a_class_that_is_absent_is_left_out() -> None:
    scores = torch.tensor([[0.9, 0.4, 0.3], [0.1, 0.3, 0.5], [0.2, 0.2, 0.1]])
    with_absent = F.pad(scores, (0, 1), value=0.7)
    targets = torch.tensor([0, 1, 2])
    for area in (roc_auc, average_precision):
        assert area(with_absent, targets) == pytest.approx(area(scores, targets))


@pytest.mark.parametrize("area", [roc_auc, average_precision])
def test_one_class_alone_has_no_area(area: Callable[[Tensor, Tensor], float]) -> None:
    assert math.isnan(area(of_two(0.2, 0.7), torch.tensor([1, 1])))
    assert math.isnan(area(of_two(0.2, 0.7), torch.tensor([0, 0])))
    assert math.isnan(area(torch.rand(3, 4), torch.tensor([2, 2, 2])))
    assert math.isnan(area(torch.rand(3, 1), torch.tensor([0, 0, 0])))
    assert math.isnan(area(torch.rand(3, 2), torch.tensor([[1, 0], [1, 0], [1, 0]])))


@pytest.mark.parametrize("area", [roc_auc, average_precision])
def test_a_sample_without_weight_is_not_there(
    area: Callable[[Tensor, Tensor, Tensor | None], float],
) -> None:
    scores, targets = of_two(0.9, 0.8, 0.6, 0.4, 0.2), torch.tensor([1, 1, 0, 1, 0])
    weights = torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0])
    assert area(scores, targets, weights) == pytest.approx(area(scores[1:], targets[1:], None))
    alone = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0])  # no negative counts
    assert math.isnan(area(scores, targets, alone))


@PROPERTY
@given(scored())
def test_area_is_the_share_of_pairs_won(case: Case) -> None:
    scores, targets, weights = case
    amounts = torch.ones(len(targets)) if weights is None else weights
    classes = range(scores.shape[1]) if scores.shape[1] > 2 else [1]
    known = [k for k in classes if 0 < int((targets == k).sum()) < len(targets)]
    assume(known)
    areas = [pairs_won(scores[:, k], targets == k, amounts) for k in known]
    assert roc_auc(*case) == pytest.approx(sum(areas) / len(areas))


@PROPERTY
@given(scored())
def test_areas_are_those_of_scikit_learn(case: Case) -> None:
    scores, targets, weights = case
    classes = range(scores.shape[1]) if scores.shape[1] > 2 else [1]
    known = [k for k in classes if 0 < int((targets == k).sum()) < len(targets)]
    assume(known)
    for ours, theirs in (
        (roc_auc, reference.roc_auc_score),
        (average_precision, reference.average_precision_score),
    ):
        values = [theirs((targets == k).long(), scores[:, k], sample_weight=weights) for k in known]
        assert ours(*case) == pytest.approx(sum(values) / len(values))


@PROPERTY
@given(scored())
def test_classes_are_labels_of_which_one_is_true(case: Case) -> None:
    scores, targets, weights = case
    assume(scores.shape[1] > 2)
    labels = F.one_hot(targets, scores.shape[1])
    for area in (roc_auc, average_precision):
        as_class, as_labels = area(scores, targets, weights), area(scores, labels, weights)
        assert as_class == as_labels or (math.isnan(as_class) and math.isnan(as_labels))


def test_macro_averages_of_scikit_learn_on_all_classes_and_on_labels() -> None:
    seed = torch.Generator().manual_seed(0)
    probabilities = torch.randn(60, 4, generator=seed).softmax(dim=1).double()
    probabilities /= probabilities.sum(dim=1, keepdim=True)
    targets = torch.arange(60) % 4
    labels = torch.randint(0, 2, (60, 4), generator=seed)
    assert roc_auc(probabilities, targets) == pytest.approx(
        reference.roc_auc_score(targets, probabilities, multi_class="ovr", average="macro")
    )
    assert average_precision(probabilities, targets) == pytest.approx(
        reference.average_precision_score(targets, probabilities, average="macro")
    )
    assert roc_auc(probabilities, labels) == pytest.approx(
        reference.roc_auc_score(labels, probabilities, average="macro")
    )
    assert average_precision(probabilities, labels) == pytest.approx(
        reference.average_precision_score(labels, probabilities, average="macro")
    )


@PROPERTY
@given(scored())
def test_only_the_order_of_scores_matters(case: Case) -> None:
    scores, targets, weights = case
    stretched = (scores / 4).exp() - 7
    for area in (roc_auc, average_precision):
        before, after = area(scores, targets, weights), area(stretched, targets, weights)
        assert before == after or (math.isnan(before) and math.isnan(after))


def test_blocks_of_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = torch.Generator().manual_seed(1)
    scores, targets = torch.rand(20, 7, generator=seed), torch.arange(20) % 7
    labels = torch.randint(0, 2, (20, 7), generator=seed)
    calls = [(area, truth) for area in (roc_auc, average_precision) for truth in (targets, labels)]
    at_once = [area(scores, truth) for area, truth in calls]
    for numbers in (1, 60):  # one column at a time, then three, three and one
        monkeypatch.setattr(ranking, "NUMBERS_AT_ONCE", numbers)
        assert [area(scores, truth) for area, truth in calls] == at_once


def test_counts_beyond_float32_stay_exact() -> None:
    # 4095 positives meet 4097 negatives, of which one beats them all: near 2^24 pairs.
    targets = torch.ones(2**13, dtype=torch.int64)
    targets[: 2**12 + 1] = 0
    scores = targets.float()
    scores[0] = 2.0
    assert roc_auc(torch.stack((-scores, scores), dim=1), targets) == 4096 / 4097


@for_each("area", [roc_auc, average_precision])
@for_each(
    ("scores", "targets", "error", "sentence"),
    [
        (
            torch.rand(3, 2),
            torch.zeros(3, 1, dtype=torch.int64),
            ShapeError,
            "targets must have shape (3, 2), got (3, 1)",
        ),
        (
            torch.rand(3),
            torch.zeros(3, dtype=torch.int64),
            ShapeError,
            "scores must have shape (N, C), got (3,)",
        ),
        (
            torch.rand(0, 2),
            torch.zeros(0, dtype=torch.int64),
            ShapeError,
            "scores must not be empty, got shape (0, 2)",
        ),
        (
            torch.full((1, 2), float("nan")),
            torch.zeros(1, dtype=torch.int64),
            DataError,
            "scores must be finite, got nan at [0, 0] (2 in all)",
        ),
    ],
)
def test_refuses_in_one_sentence(
    area: Callable[[Tensor, Tensor], float],
    scores: Tensor,
    targets: Tensor,
    error: type[NetwrightError],
    sentence: str,
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        area(scores, targets)
