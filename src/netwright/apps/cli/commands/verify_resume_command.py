"""`netwright verify-resume`: whether a run of one's own goes on exactly, bit for bit."""

from pathlib import Path
from typing import Annotated

import typer


def verify_resume(
    run: Annotated[Path, typer.Argument(help="A run folder; it is copied and not changed.")],
    steps: Annotated[int, typer.Option(help="How many steps the copies train.")] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Resume a copy of a run, interrupt it at a random step, and compare with an undisturbed copy.

    netwright verify-resume runs/mlp-digits-001
    """
    from dataclasses import asdict

    from netwright.core.terminal.console import print_json, print_result
    from netwright.recipes.fitting.verify_resume import verify_resume as verify

    found = verify(run, steps=steps)
    if as_json:
        print_json({**asdict(found), "run": str(run), "holds": found.holds})
    else:
        print_result(f"{run}: {found}")
    if not found.holds:
        raise typer.Exit(1)
