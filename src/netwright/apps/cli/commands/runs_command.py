"""`netwright runs`: the runs of a folder, also those that are being trained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.saved.run_list import ListedRun


def runs(
    folder: Annotated[Path, typer.Argument(help="Where to look, three levels deep.")] = Path(),
    stop: Annotated[
        str,
        typer.Option(
            metavar="RUN",
            help="Ask the process that trains it to save and end; twice: to end at once.",
        ),
    ] = "",
    delete: Annotated[
        str, typer.Option(metavar="RUN", help="Move it to the folder .bin; nothing is lost.")
    ] = "",
    tag: Annotated[str, typer.Option(help="Only runs with this tag; see `note`.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the runs of a folder, the newest first, or stop or delete one.

    netwright runs
    netwright runs experiments --json
    netwright runs --tag baseline
    netwright runs --stop runs/mlp-mnist-001
    netwright runs --delete runs/mlp-mnist-001
    """
    from netwright.core.terminal.console import (
        print_json,
        print_message,
        print_result,
        print_table,
        print_warning,
    )
    from netwright.recipes.saved.run_control import find_listed, move_to_bin, stop_run
    from netwright.recipes.saved.run_list import list_runs

    if stop:
        stop_run(find_listed(folder, stop))
        print_message(f"asked to stop: {stop}")
    if delete:
        print_result(f"moved to {move_to_bin(folder, delete)}")
    if stop or delete:
        return
    found = [run for run in list_runs(folder) if not tag or tag in run.tags]
    if as_json:
        print_json([vars(run) for run in found])
    elif found:
        print_table([_row(run) for run in found])
        for run in found:
            if run.trouble:
                print_warning(f"{run.name}: {run.trouble}")
    else:
        print_message(f"there are no runs {f'with the tag {tag} ' * bool(tag)}in {folder}")


def _row(run: "ListedRun") -> dict[str, str]:
    return {
        "run": run.name,
        "state": run.state,
        "model": run.model or "(own)",
        "data": run.data or "(own)",
        "seed": str(run.seed),
        "metric": run.metric or "-",
        "value": "-" if run.value is None else f"{run.value:.4g}",
        "baseline": "-" if run.baseline is None else f"{run.baseline:.4g}",
        "tags": ", ".join(run.tags),
    }
