"""What every command that takes a recipe lets a person type of it."""

from pathlib import Path
from typing import Annotated

import typer

ModelName = Annotated[
    str | None,
    typer.Argument(help="A model or a ready recipe: see `netwright list`. (mlp)"),
]
DataName = Annotated[
    str | None,
    typer.Argument(help="A data set, a file or a folder: see `netwright list data`. (digits)"),
]
RecipeFiles = Annotated[
    list[Path] | None,
    typer.Option("--config", "-c", help="A recipe in YAML, or ready/NAME; later ones win."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any setting of a recipe."),
]
Target = Annotated[
    list[str] | None, typer.Option(help="The column to predict; several are allowed.")
]
Text = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column of a table that holds text.")
]
SourceColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of sources, where --target is what they say."),
]
DropMissingTarget = Annotated[
    bool, typer.Option("--drop-missing-target", help="Drop rows of a table without a target.")
]
