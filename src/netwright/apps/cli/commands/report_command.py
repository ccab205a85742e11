"""`netwright report`: everything about a run on one page."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes. (report.html in the run folder)")
    ] = None,
    no_examples: Annotated[
        bool, typer.Option("--no-examples", help="Leave out examples of the data.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Write a self-contained HTML report of a run.

    netwright report runs/mlp-digits-001
    netwright report runs/mlp-digits-001 --no-examples --out digits.html
    """
    from netwright.core.files.storage import read_json
    from netwright.core.terminal.console import print_json, print_result, print_warning
    from netwright.recipes.run.run import open_run

    page = open_run(run).report(out, examples=not no_examples)
    told = read_json(page.with_suffix(".json"))
    if told["absent"]:
        print_warning(f"without views of predictions and data: {told['absent']}")
    if told["unmeasured"]:
        print_warning(f"without learning curves: {told['unmeasured']}")
    if as_json:
        print_json(told)
    else:
        print_result(f"report: {page}")
