"""`netwright evaluate`: every metric of a run, beside the trivial baseline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netwright.apps.cli.reading_options import LengthPenalty, WrittenAs, read_as

if TYPE_CHECKING:
    from netwright.data.dataset import Split
    from netwright.recipes.run.run import Run


def evaluate(  # noqa: PLR0913, PLR0917 - one argument an option
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
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Metrics for each group of rows, by a column of the table; it need not be one "
            "that was learned from.",
        ),
    ] = None,
    beams: Annotated[
        int | None,
        typer.Option(help="For pairs of texts: BLEU of a search with so many beams. (greedy)"),
    ] = None,
    length_penalty: LengthPenalty = None,
    settings: WrittenAs = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure a run on its test split, or on other labelled data.

    netwright evaluate runs/mlp-digits-001
    netwright evaluate runs/mlp-default-csv-001 new.csv
    netwright evaluate runs/mlp-default-csv-001 --by student
    netwright evaluate runs/transformer-multi30k-001 --beams 5
    """
    from netwright.apps.cli.predicted_texts import beam_settings
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import (
        print_json,
        print_result,
        print_table,
        print_warning,
    )
    from netwright.recipes.judging.group_metrics import evaluate_groups
    from netwright.recipes.run.metric_table import bleu_line, metric_rows, whose_metrics
    from netwright.recipes.run.run import open_run

    given = [one for one in (source, data) if one is not None]
    if len(given) > 1:
        raise ConfigError(f"evaluate takes one source of data, got {' and '.join(given)}")
    search = beam_settings(beams, length_penalty)
    if by is not None and search:
        raise ConfigError("--by is for tables, --beams for pairs of texts: leave out one of them")
    if given and split is not None:
        raise ConfigError(f"--split selects from the run's own data, got {given[0]} as well")
    opened = open_run(run)
    read_as(opened, settings or [])
    shown = "".join(given) or split or opened.results["split"]
    if by is None:
        examples = opened.examples(*given, split=split)
        metrics, baseline = opened.evaluate(examples), opened.baseline(examples)
        rows = metric_rows(metrics, baseline)
        found: dict[str, Any] = {"metrics": metrics, "baseline": baseline}
        found |= _translations(opened, examples, search)
    else:
        groups = evaluate_groups(opened, by, *given, split=split)
        rows = groups.table_rows()
        found = {"metrics": groups.whole, "column": by, "rows": groups.rows}
        found["groups"] = groups.metrics
    for remark in opened.remarks(*given) if given else ():
        print_warning(remark)
    if as_json:
        print_json({"split": shown, **found})
        return
    print_table(rows, title=shown)
    for said in whose_metrics(opened.spec, found["metrics"]):
        print_result(said)
    if "bleu" in found:
        print_result(bleu_line(found["bleu"]))


def _translations(run: "Run", examples: "Split", search: dict[str, Any]) -> dict[str, Any]:
    """The BLEU of pairs of texts; where a search is asked for it must be possible."""
    from dataclasses import asdict

    from netwright.recipes.run.translation import can_be_scored, score_translations

    if not search and not can_be_scored(run.model, examples):
        return {}
    return {"bleu": asdict(score_translations(run.model, run.preprocessor, examples, **search))}
