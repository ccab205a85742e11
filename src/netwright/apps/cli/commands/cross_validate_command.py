"""`netwright cross-validate`: how good a recipe is, measured on every row of the data."""

from typing import Annotated

import typer

from netwright.apps.cli.recipe_options import (
    DataName,
    DropMissingTarget,
    ModelName,
    RecipeFiles,
    Settings,
    Target,
    Text,
)
from netwright.apps.cli.typed_recipe import typed_recipe


def cross_validate(  # noqa: PLR0913, PLR0917 - one argument an option
    model: ModelName = None,
    data: DataName = None,
    config: RecipeFiles = None,
    settings: Settings = None,
    target: Target = None,
    text: Text = None,
    drop_missing_target: DropMissingTarget = False,
    folds: Annotated[int, typer.Option(help="Number of folds; each is held out once.")] = 5,
    repeats: Annotated[
        int, typer.Option(help="How many times the rows are split into new folds.")
    ] = 1,
    stratify: Annotated[
        bool | None,
        typer.Option(
            "--stratify/--no-stratify",
            help="Keep class proportions in every fold. (for classification)",
        ),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="The metric to report. (accuracy; rmse for regression)")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed for folds, weights, order and dropout. (0)")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Every fold as JSON.")] = False,
) -> None:
    """Train a recipe k times, each time measured on the fold that it did not see.

    netwright cross-validate mlp digits
    netwright cross-validate least-squares diabetes --folds 10 --repeats 5
    netwright cross-validate -c recipe.yaml --json
    """
    from netwright.core.terminal.console import print_json, print_message, print_result, print_table
    from netwright.recipes.judging.cross_validate import cross_validate_recipe
    from netwright.recipes.judging.folds import foldable
    from netwright.recipes.plan.recipe import parse_recipe
    from netwright.recipes.plan.sources import load_configured

    recipe = parse_recipe(
        typed_recipe(
            config or [],
            model,
            data,
            seed,
            settings or [],
            {
                "target": tuple(target) if target else None,
                "text": text,
                "drop_missing_target": drop_missing_target or None,
            },
            {"epochs": epochs, "batch_size": batch_size, "lr": lr},
        )
    )
    rows = foldable(recipe.data, recipe.data_settings, load_configured(recipe))
    try:
        found = cross_validate_recipe(
            recipe,
            rows,
            folds=folds,
            repeats=repeats,
            stratify=stratify,
            metric=metric,
            quiet=quiet or as_json,
        )
    except KeyboardInterrupt:
        print_message("interrupted; the folds are incomplete, so nothing was saved")
        raise typer.Exit(130) from None  # typer would make an Abort of it
    if as_json:
        print_json(found.to_json())
        return
    print_table(found.table_rows(), title=found.setting)
    for said in (found.sentence, *found.remarks):
        print_result(said)
