"""`netwright evaluate`: every metric of a run, beside the trivial baseline."""

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    data: Annotated[
        str | None,
        typer.Option(
            help="A table with the target, a folder of images, a text, or tagged sentences. "
            "(the run's own data)"
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="train, val or test of the run's own data. (test)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure a run on its test split, or on other labelled data.

    netwright evaluate runs/mlp-digits-001
    netwright evaluate runs/mlp-default-csv-001 --data new.csv
    """
    from netwright.core.console import give_json, give_table, warn
    from netwright.recipes.metric_table import metric_rows
    from netwright.recipes.run import open_run

    opened = open_run(run)
    examples = opened.examples(data, split=split)
    for remark in opened.preprocessor.remarks(data) if data is not None else ():
        warn(remark)
    metrics, baseline = opened.evaluate(examples), opened.baseline(examples)
    shown = data or split or opened.results["split"]
    if as_json:
        give_json({"split": shown, "metrics": metrics, "baseline": baseline})
        return
    give_table(metric_rows(metrics, baseline), title=shown)
