"""Metrics beside the baseline, with a dash where it has none; and which class they are of."""

from dataclasses import replace

from netwright.data.spec import DataSpec
from netwright.recipes.run.metric_table import as_shown, metric_rows, whose_metrics

TWO_CLASSES = DataSpec(
    inputs="features",
    target="class",
    input_shape=(1,),
    num_outputs=2,
    class_names=("late", "on time"),
)


def test_the_baseline_stands_beside_every_metric() -> None:
    assert metric_rows({"loss": 0.12345, "accuracy": 1.0}, {"accuracy": 0.5}) == [
        {"metric": "loss", "this run": "0.1235", "baseline": "-"},
        {"metric": "accuracy", "this run": "1.0000", "baseline": "0.5000"},
    ]


def test_the_error_of_a_small_target_is_not_zero() -> None:
    assert metric_rows({"rmse": 2.1534e-5}, {"rmse": 0.0}) == [
        {"metric": "rmse", "this run": "2.153e-05", "baseline": "0.0000"}
    ]


def test_of_two_classes_it_is_said_which_one_precision_and_recall_are_of() -> None:
    said = whose_metrics(TWO_CLASSES, ["accuracy", "precision", "recall", "f1", "roc_auc"])
    assert said == ["precision, recall and f1: of 'on time', the second class; the first is 'late'"]
    assert whose_metrics(TWO_CLASSES, ["recall"])[0].startswith("recall: of 'on time'")
    assert whose_metrics(TWO_CLASSES, ["accuracy", "roc_auc"]) == []
    unnamed = replace(TWO_CLASSES, class_names=())
    assert "of '1', the second class" in whose_metrics(unnamed, ["f1"])[0]


def test_metrics_of_more_classes_are_means_over_all_of_them() -> None:
    three = replace(TWO_CLASSES, num_outputs=3, class_names=("a", "b", "c"))
    labels = replace(TWO_CLASSES, target="labels")
    assert whose_metrics(three, ["precision"]) == whose_metrics(labels, ["f1"]) == []


def test_the_share_of_variance_that_the_mean_explains_is_shown_as_zero() -> None:
    assert metric_rows({"r2": 0.1719}, {"r2": -1.835e-9}) == [
        {"metric": "r2", "this run": "0.1719", "baseline": "0.0000"}
    ]
    assert (as_shown("r2", -0.0002), as_shown("rmse", 1e-9)) == (-0.0002, 1e-9)
