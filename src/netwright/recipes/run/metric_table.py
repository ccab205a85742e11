"""Metrics as a person reads them: this run beside the trivial baseline."""

from collections.abc import Mapping
from typing import Any

from netwright.metrics.metric_text import metric_text
from netwright.recipes.saved.run_record import RunRecord


def metric_rows(
    metrics: Mapping[str, float], baseline: Mapping[str, float]
) -> list[dict[str, str]]:
    """One row a metric, the trivial guess beside it."""
    return [
        {
            "metric": name,
            "this run": metric_text(value),
            "baseline": metric_text(baseline[name]) if name in baseline else "-",
        }
        for name, value in metrics.items()
    ]


def said_of_results(run: RunRecord) -> list[str]:
    """What has to be known beside the metrics: a chosen threshold, the BLEU of translations."""
    said = []
    if run.task.threshold is not None:
        said.append(
            f"{run.spec.class_names[1]!r} is predicted above probability {run.task.threshold:.3g}, "
            f"chosen by {run.config['train'].get('threshold', 'hand')} on the validation rows: "
            "metrics, confusion matrix, decision regions and examples follow it."
        )
    if "bleu" in run.results:
        said.append(f"{bleu_line(run.results['bleu'])}.")
    return said


def bleu_line(score: Mapping[str, Any]) -> str:
    """The BLEU of translations with all that has to be known to compare it; see `translation`."""
    searched = f"{score['beams']} beams, length penalty {score['length_penalty']:g}"
    return (
        f"BLEU {score['bleu']:.2f} (sources copied: {score['copied']:.2f}) on {score['pairs']:,} "
        f"pairs, {'greedy' if score['beams'] == 1 else searched}: {score['signature']}"
    )
