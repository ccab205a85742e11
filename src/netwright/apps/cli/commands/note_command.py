"""`netwright note`: tags and a note on a run."""

from pathlib import Path
from typing import Annotated

import typer


def note(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    text: Annotated[
        str | None, typer.Argument(help="The note, in the place of the one there is.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag to add.")] = None,
    untag: Annotated[list[str] | None, typer.Option(help="A tag to remove.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Tag a run, write a note on it, or read both; `runs --tag` lists by tag.

    netwright note runs/mlp-moons-001 --tag baseline --tag moons
    netwright note runs/mlp-moons-001 "before the data was cleaned"
    netwright note runs/mlp-moons-001 --untag baseline
    netwright note runs/mlp-moons-001
    """
    from netwright.core.terminal.console import print_json, print_result
    from netwright.recipes.saved.run_notes import note_run

    kept = note_run(run, note=text, add=tag or (), remove=untag or ())
    if as_json:
        print_json(vars(kept))
        return
    print_result(f"tags: {', '.join(kept.tags) or 'none'}")
    print_result(f"note: {kept.note or 'none'}")
