"""`netwright doctor`: what seems wrong with data and a model, before anything is trained."""

from pathlib import Path
from typing import Annotated

import typer

from netwright.apps.cli.recipe_options import (
    DataName,
    DropMissingTarget,
    RecipeFiles,
    Settings,
    Target,
    Text,
)
from netwright.apps.cli.typed_recipe import typed_recipe


def doctor(  # noqa: PLR0913, PLR0917 - one argument an option
    data: DataName = None,
    model: Annotated[
        str | None, typer.Option(help="The model to try. (the usual one for such data)")
    ] = None,
    config: RecipeFiles = None,
    settings: Settings = None,
    target: Target = None,
    text: Text = None,
    target_kind: Annotated[
        str | None, typer.Option(help="The kind of target: class, real or labels. (inferred)")
    ] = None,
    drop_missing_target: DropMissingTarget = False,
    seed: Annotated[
        int | None, typer.Option(help="Random seed for the initial weights. (0)")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write a page, x.html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Look for problems before training: in the data, and in the model's first steps.

    netwright doctor iris
    netwright doctor Default.csv --target default
    netwright doctor photos/ --model resnet18 --out doctor.html
    netwright doctor reviews.tsv --text sentence --target label
    """
    from netwright.core.terminal.console import print_json, print_message, print_result
    from netwright.recipes.doctor.diagnosis import check_is_page
    from netwright.recipes.doctor.doctor import doctor_recipe
    from netwright.recipes.plan.recipe import parse_recipe

    if out is not None:
        check_is_page(out)
    recipe = parse_recipe(
        typed_recipe(
            config or [],
            model,
            data,
            seed,
            settings or [],
            {
                "target": tuple(target) if target else None,
                "target_kind": target_kind,
                "text": text,
                "drop_missing_target": drop_missing_target or None,
            },
            {},
        )
    )
    found = doctor_recipe(recipe, is_model_given=model is not None or bool(config))
    if out is not None:
        print_message(f"written: {found.save(out)}")
    if as_json:
        print_json(found.to_json())
    else:
        print_result(str(found))
    if not found.is_loaded:
        raise typer.Exit(1)  # findings are advice, but this data cannot be trained on
