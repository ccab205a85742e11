"""Metrics as a person reads them: this run beside the trivial baseline."""

from collections.abc import Mapping


def metric_rows(
    metrics: Mapping[str, float], baseline: Mapping[str, float]
) -> list[dict[str, str]]:
    """One row a metric, the trivial guess beside it."""
    return [
        {
            "metric": name,
            "this run": f"{value:.4f}",
            "baseline": f"{baseline[name]:.4f}" if name in baseline else "-",
        }
        for name, value in metrics.items()
    ]
