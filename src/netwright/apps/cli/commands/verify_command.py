"""`netwright verify`: whether a folder is whole and what it seems, before anything loads it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.saved.verification import Verification

SHOWN = ("model/model.safetensors", "model.safetensors")  # of a run, and of a model by itself
MOST_TENSORS, MOST_FILES = 50, 500  # that are shown: a manifest can name a hundred thousand


def verify(
    folder: Annotated[
        Path, typer.Argument(help="A run, a search, a comparison, a checkpoint or a saved model.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="All as JSON, with every tensor of every file.")
    ] = False,
) -> None:
    """Check a folder without loading it: what it is, and whether every file is intact.

    netwright verify runs/mlp-digits-001
    netwright verify from-a-stranger --json
    """
    from netwright.core.terminal.console import print_json
    from netwright.recipes.saved.verify import verify as look_through

    found = look_through(folder)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)
    if not found.holds:
        raise typer.Exit(1)


def _show(found: "Verification") -> None:
    from netwright.core.terminal.console import print_result, print_table

    print_result(f"{found.folder} is a {found.kind}")
    for name, text in found.about.items():
        print_result(f"{name}: {text}")
    print_table(
        [
            {
                "file": file.name,
                "found": file.state,
                "bytes": f"{file.size:,}",
                "remark": file.remark,
            }
            for file in found.files[:MOST_FILES]
        ]
    )
    _give_rest(len(found.files) - MOST_FILES)
    weights = next((held for name, held in found.tensors.items() if name in SHOWN), ())
    if weights:
        shapes = [
            {"tensor": one.name, "type": one.dtype, "shape": str(list(one.shape))}
            for one in weights
        ]
        print_table(shapes[:MOST_TENSORS], title="weights")
    _give_rest(len(weights) - MOST_TENSORS)
    for fault in found.faults[:MOST_FILES]:
        print_result(f"wrong: {fault}")
    _give_rest(len(found.faults) - MOST_FILES)
    print_result(found.verdict)


def _give_rest(count: int) -> None:
    from netwright.core.terminal.console import print_result

    if count > 0:
        print_result(f"and {count:,} more; --json gives them all")
