"""Metrics of one's own, of each kind: what they are called, which way is better, what they say."""

from functools import partial
from typing import Any

import pytest
import torch
from sklearn.metrics import f1_score, make_scorer, mean_pinball_loss, r2_score, roc_auc_score
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.train.own.metrics import (
    OwnMetric,
    check_measurable,
    measure_own,
    read_metrics,
)
from tests.repetition import for_each

TARGETS = torch.tensor([0, 1, 1, 0])
SAID = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])


def surest(predictions: Tensor, targets: Tensor) -> Tensor:
    return predictions.max()


class MyCount:
    """What torchmetrics' objects are like."""

    higher_is_better = False

    def __init__(self) -> None:
        self.total = 0

    def update(self, predictions: Tensor, targets: Tensor) -> None:
        self.total += len(targets)

    def compute(self) -> Tensor:
        return torch.tensor(float(self.total))

    def reset(self) -> None:
        self.total = 0


def test_names_are_those_of_functions_and_classes_or_as_given() -> None:
    scorer = make_scorer(f1_score, average="macro")
    given = [surest, MyCount(), partial(roc_auc_score, average="macro"), scorer]
    assert list(read_metrics(given)) == ["surest", "my_count", "roc_auc_score", "f1_score"]
    assert list(read_metrics({"a": surest, "b": surest})) == ["a", "b"]
    assert list(read_metrics(surest)) == ["surest"]
    assert read_metrics(()) == {}


def test_each_kind_says_its_number() -> None:
    metrics = read_metrics([surest, MyCount(), roc_auc_score, make_scorer(f1_score)])
    for _ in range(2):  # nothing is added up from one time to the next
        assert measure_own(metrics, "class", SAID, TARGETS) == {
            "surest": pytest.approx(0.9),
            "my_count": 4.0,
            "roc_auc_score": roc_auc_score(TARGETS, SAID[:, 1]),
            "f1_score": f1_score(TARGETS, [0, 0, 1, 1]),
        }


def test_one_real_an_example_is_a_list_of_numbers() -> None:
    reals = torch.tensor([[1.0], [2.0], [4.0]])
    shapes: list[Any] = []

    def look(predictions: Tensor, targets: Tensor) -> float:
        shapes.append((predictions.shape, targets.shape))
        return 0.0

    found = measure_own(read_metrics([look, r2_score]), "real", reals + 1, reals)
    assert found == {"look": 0.0, "r2_score": r2_score(reals, reals + 1)}
    assert shapes == [((3,), (3,))]


def test_torchmetrics_of_two_classes_and_of_several() -> None:
    torchmetrics = pytest.importorskip("torchmetrics")
    kinds = torchmetrics.classification
    metrics = read_metrics([kinds.BinaryAccuracy(), kinds.MulticlassAccuracy(2, average="micro")])
    assert list(metrics) == ["binary_accuracy", "multiclass_accuracy"]
    assert set(measure_own(metrics, "class", SAID, TARGETS).values()) == {0.5}
    assert not metrics["binary_accuracy"].is_lower_better
    errors = torchmetrics.MetricCollection([torchmetrics.MeanAbsoluteError()])
    named = read_metrics(errors)
    assert named["MeanAbsoluteError"].is_lower_better
    assert measure_own(named, "real", SAID, SAID + 1) == {"MeanAbsoluteError": 1.0}


def test_a_metric_without_a_value_is_left_out() -> None:
    metrics = read_metrics({"nothing": lambda p, t: float("nan"), "end": lambda p, t: float("inf")})
    assert measure_own(metrics, "class", SAID, TARGETS) == {}


@for_each(
    ("metric", "falls"),
    [
        (surest, False),
        (MyCount(), True),
        (mean_pinball_loss, True),
        (f1_score, False),
        (make_scorer(mean_pinball_loss, greater_is_better=False), False),
    ],
)
def test_which_way_is_better_is_said_or_follows_from_the_name(metric: Any, falls: bool) -> None:
    (read,) = read_metrics(metric).values()
    assert read.is_lower_better is falls


@for_each(
    ("given", "sentence"),
    [
        ({"accuracy": surest}, "'accuracy' is measured anyhow: give your metric another name"),
        ({"loss": surest}, "'loss' is measured anyhow"),
        ([surest, surest], "two metrics have one name, of surest, surest: name them"),
        ([MyCount], "an object with update and compute, got the class MyCount"),
        ("f1", r"a scorer or an object with update and compute, got 'f1'"),
    ],
)
def test_what_is_no_metric_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        read_metrics(given)


def test_what_a_metric_raises_is_told_by_its_name() -> None:
    def wrong(predictions: Tensor, targets: Tensor) -> float:
        raise ValueError("no such thing\nat all")

    with pytest.raises(ConfigError, match=r"^the metric 'wrong' fails: no such thing$"):
        OwnMetric("wrong", wrong).value("class", SAID, TARGETS)


def test_they_are_of_one_prediction_an_example() -> None:
    check_measurable({}, "mask")
    with pytest.raises(ConfigError, match="for classes, labels and reals, the target is 'mask'"):
        check_measurable(read_metrics(surest), "mask")
