"""Metrics as a person reads them: this run beside the trivial baseline."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netwright.recipes.run import Run


def show_results(run: "Run", *, as_json: bool) -> None:
    """The run's metrics beside the baseline, and where it lies."""
    from netwright.core.console import give, give_json, give_table

    results = run.results
    if as_json:
        give_json({"run": None if run.folder is None else str(run.folder), **results})
        return
    title = f"{results['split']} ({results['rows']} rows)"
    give_table(metric_rows(results["metrics"], results["baseline"]), title=title)
    give(f"baseline: {results['baseline_rule']}")
    give(f"run: {run.folder}")


def metric_rows(metrics: dict[str, float], baseline: dict[str, float]) -> list[dict[str, str]]:
    """One row a metric, the trivial guess beside it."""
    return [
        {
            "metric": name,
            "this run": f"{value:.4f}",
            "baseline": f"{baseline[name]:.4f}" if name in baseline else "-",
        }
        for name, value in metrics.items()
    ]
