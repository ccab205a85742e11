"""The table of results: a row a metric, the baseline beside it."""

from netwright.apps.cli.results_table import metric_rows


def test_a_metric_without_a_baseline_has_a_dash() -> None:
    rows = metric_rows({"loss": 0.25, "accuracy": 0.9}, {"accuracy": 0.5})
    assert rows == [
        {"metric": "loss", "this run": "0.2500", "baseline": "-"},
        {"metric": "accuracy", "this run": "0.9000", "baseline": "0.5000"},
    ]
