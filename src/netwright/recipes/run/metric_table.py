"""Metrics as a person reads them: this run beside the trivial baseline."""

from collections.abc import Iterable, Mapping
from typing import Any

from netwright.data.spec import DataSpec
from netwright.metrics.metric_text import metric_text
from netwright.recipes.saved.run_record import RunRecord

OF_ONE_CLASS = ("precision", "recall", "f1", "average_precision")  # where there are two
SHARES_OF_A_VARIANCE = ("r2",)


def metric_rows(
    metrics: Mapping[str, float], baseline: Mapping[str, float]
) -> list[dict[str, str]]:
    """One row a metric, the trivial guess beside it."""
    return [
        {
            "metric": name,
            "this run": metric_text(as_shown(name, value)),
            "baseline": metric_text(as_shown(name, baseline[name])) if name in baseline else "-",
        }
        for name, value in metrics.items()
    ]


def whose_metrics(spec: DataSpec, metrics: Iterable[str]) -> list[str]:
    """Of two classes, which one precision, recall ... are of; nothing where they are of all.

    It is the second by its name, also where the first is the one that is looked for.
    """
    names = [name for name in metrics if name in OF_ONE_CLASS]
    if spec.target != "class" or spec.num_outputs != 2 or not names:
        return []
    first, second = spec.output_names
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return [f"{listed}: of {second!r}, the second class; the first is {first!r}"]


def as_shown(metric: str, value: float) -> float:
    """The value; 0 for a share of the variance that is 0 in the four decimals of a table.

    It is so for the mean, and its -1.8e-09 beside 0.1719 looks like a number to read.
    """
    return 0.0 if metric in SHARES_OF_A_VARIANCE and abs(value) < 5e-5 else value


def said_of_results(run: RunRecord) -> list[str]:
    """What has to be known beside the metrics: their class, a chosen threshold, the BLEU."""
    said = [f"{one}." for one in whose_metrics(run.spec, run.results["metrics"])]
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
