"""`netwright export`: a run in the files of other tools, compared with the run before it counts."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    to: Annotated[str, typer.Option(help="The format: state-dict, onnx, torch-export or hf.")],
    out: Annotated[
        Path | None, typer.Option(help="A new folder for the files. (RUN-FORMAT)")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="What to compare on, with the target. (the run's own data)")
    ] = None,
    script: Annotated[
        bool, typer.Option("--script", help="A predict.py beside it that needs no netwright.")
    ] = False,
) -> None:
    """Write a run for other tools; what was written is opened again and compared with the run.

    netwright export runs/mlp-digits-001 --to onnx
    netwright export runs/mlp-default-csv-001 --to onnx --script
    netwright export runs/gpt-tinyshakespeare-001 --to hf --out my-gpt
    """
    from netwright.core.terminal.console import print_result
    from netwright.recipes.exchange.export import find_format
    from netwright.recipes.run.run import open_run

    find_format(to)  # before the data is read
    print_result(str(open_run(run).export(to, out, data=data, script=script)))
