"""`netwright evaluate`: every metric of a run, beside the trivial baseline."""

from pathlib import Path
from typing import Annotated

import typer

from netwright.apps.cli.reading_options import WrittenAs, read_as


def evaluate(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="A table with the target, a folder of images, a text, or tagged sentences. "
            "(the run's own data)",
        ),
    ] = None,
    data: Annotated[str | None, typer.Option(help="The same, as an option.")] = None,
    split: Annotated[
        str | None, typer.Option(help="The split of the run's own data: train, val or test. (test)")
    ] = None,
    settings: WrittenAs = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure a run on its test split, or on other labelled data.

    netwright evaluate runs/mlp-digits-001
    netwright evaluate runs/mlp-default-csv-001 new.csv
    """
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json, print_table, print_warning
    from netwright.recipes.run.metric_table import metric_rows
    from netwright.recipes.run.run import open_run

    given = [one for one in (source, data) if one is not None]
    if len(given) > 1:
        raise ConfigError(f"evaluate takes one source of data, got {' and '.join(given)}")
    if given and split is not None:
        raise ConfigError(f"--split selects from the run's own data, got {given[0]} as well")
    opened = open_run(run)
    read_as(opened, settings or [])
    examples = opened.examples(*given, split=split)
    for remark in opened.preprocessor.remarks(*given) if given else ():
        print_warning(remark)
    metrics, baseline = opened.evaluate(examples), opened.baseline(examples)
    shown = "".join(given) or split or opened.results["split"]
    if as_json:
        print_json({"split": shown, "metrics": metrics, "baseline": baseline})
        return
    print_table(metric_rows(metrics, baseline), title=shown)
