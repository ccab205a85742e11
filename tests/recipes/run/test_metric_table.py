"""Metrics beside the baseline; where the baseline has none there is a dash."""

from netwright.recipes.run.metric_table import metric_rows


def test_the_baseline_stands_beside_every_metric() -> None:
    assert metric_rows({"loss": 0.12345, "accuracy": 1.0}, {"accuracy": 0.5}) == [
        {"metric": "loss", "this run": "0.1235", "baseline": "-"},
        {"metric": "accuracy", "this run": "1.0000", "baseline": "0.5000"},
    ]


def test_the_error_of_a_small_target_is_not_zero() -> None:
    assert metric_rows({"rmse": 2.1534e-5}, {"rmse": 0.0}) == [
        {"metric": "rmse", "this run": "2.153e-05", "baseline": "0.0000"}
    ]
