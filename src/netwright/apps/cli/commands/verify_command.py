"""`netwright verify`: whether a folder is whole and what it seems, before anything loads it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.saved.verification import Verification


def verify(
    folder: Annotated[
        Path, typer.Argument(help="A run, a search, a comparison, a checkpoint or a saved model.")
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="All as JSON, with every tensor of every file.")
    ] = False,
) -> None:
    """Look through a folder without loading it: what it is, and whether each file is whole.

    netwright verify runs/mlp-digits-001
    netwright verify from-a-stranger --json
    """
    from netwright.core.console import give_json
    from netwright.recipes.saved.verify import verify as look_through

    found = look_through(folder)
    if as_json:
        give_json(found.to_json())
    else:
        _show(found)
    if not found.holds:
        raise typer.Exit(1)


def _show(found: "Verification") -> None:
    from netwright.core.console import give, give_table

    give(f"{found.folder} is a {found.kind}")
    for name, text in found.about.items():
        give(f"{name}: {text}")
    give_table(
        [
            {
                "file": file.name,
                "found": file.state,
                "bytes": f"{file.size:,}",
                "remark": file.remark,
            }
            for file in found.files
        ]
    )
    weights = next((held for name, held in found.tensors.items() if name in SHOWN), ())
    if weights:
        shapes = [
            {"tensor": one.name, "type": one.dtype, "shape": str(list(one.shape))}
            for one in weights
        ]
        give_table(shapes[:MOST], title="weights")
    if len(weights) > MOST:
        give(f"and {len(weights) - MOST:,} more; --json gives them all")
    for fault in found.faults:
        give(f"wrong: {fault}")
    give(found.verdict)


SHOWN = ("model/model.safetensors", "model.safetensors")  # of a run, and of a model by itself
MOST = 50  # tensors that are shown
