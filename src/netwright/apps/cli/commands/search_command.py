"""`netwright search`: try settings of a recipe, or models on a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from netwright.apps.cli.typed_recipe import parse_seconds, typed_recipe

if TYPE_CHECKING:
    from netwright.recipes.model_search.search_models import ModelSearch
    from netwright.recipes.plan.recipe import Recipe
    from netwright.recipes.search.study import Study


def search(  # noqa: PLR0913, PLR0917 - one argument an option
    model: ModelName = None,
    data: DataName = None,
    config: RecipeFiles = None,
    settings: Settings = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING=VALUES",
            help="The search space: train.lr=log:1e-4..1e-1, model.dropout=0..0.6, "
            "model.hidden=64|128,64. (the usual one for the model)",
        ),
    ] = None,
    target: Target = None,
    text: Text = None,
    drop_missing_target: DropMissingTarget = False,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="Without a model: the models to try. (the usual for tables)"
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            help="Without a model: cross-validation folds. (5; of many rows as many of them are "
            "learned as hold out 20,000)"
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs per trial.")] = None,
    trials: Annotated[
        int | None, typer.Option(help="Total number of trials, over all processes. (20)")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="The validation metric to optimise: val/loss, val/accuracy ... (val/loss)"
        ),
    ] = None,
    sampler: Annotated[str | None, typer.Option(help="tpe, random or grid. (tpe)")] = None,
    pruner: Annotated[
        str | None, typer.Option(help="median, hyperband or none. (median, where possible)")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(help="journal, sqlite or postgresql://USER@HOST/DATABASE. (journal)"),
    ] = None,
    max_time: Annotated[
        str | None,
        typer.Option(
            help="Stop after this time: 90s, 10m, 2h. Without a model: of the whole search, also "
            "where it is resumed; the last fit may take longer."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed for every trial, and for the sampler. (0)")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The search folder; an existing search with the same settings is joined. (the "
            "next searches/MODEL-DATA-NNN) Without a model: the run folder."
        ),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Join or resume a search.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All trials as JSON.")] = False,
) -> None:
    """Search for the best settings of a model, or for the best model for a table.

    Settings: run the same command with --out elsewhere to help. Models: all learn the same folds,
    models that fall behind are dropped, the best or a stack of them becomes a run. A search that
    was stopped or killed goes on by --resume.

    netwright search flowers.csv --target species --max-time 5m
    netwright search mlp digits --trials 30
    netwright search mlp moons --space train.lr=log:1e-4..1e-1 --space model.hidden=16|64,32
    netwright search mlp digits --out searches/mine --max-time 10m
    netwright search --resume searches/mine --trials 100
    """
    from netwright.core.errors import ConfigError
    from netwright.recipes.model_search.race_plan import has_race_plan
    from netwright.recipes.plan.recipe import parse_recipe

    limit = None if max_time is None else parse_seconds(max_time)
    quiet = quiet or as_json
    given_data = {
        "target": tuple(target) if target else None,
        "text": text,
        "drop_missing_target": drop_missing_target or None,
    }
    how = {"metric": metric, "sampler": sampler, "pruner": pruner}
    of_models = {"models": models, "folds": folds}
    of_settings = {**how, "space": space or None, "trials": trials, "storage": storage}
    words = (model, data, config, settings, epochs, seed)

    def typed(model: str | None, data: str | None) -> "Recipe":
        given_train = {"epochs": epochs}
        return parse_recipe(
            typed_recipe(config or [], model, data, seed, settings or [], given_data, given_train)
        )

    try:
        if resume is not None:
            said = (*words, space, *given_data.values(), *how.values(), *of_models.values())
            if any(word not in (None, []) for word in said):
                usual = "--trials, --max-time and the --storage of a server"
                others = "--max-time and --out" if has_race_plan(resume) else usual
                raise ConfigError(
                    f"{resume} already defines the search: --resume can only be combined with "
                    f"{others}"
                )
            _resume(resume, trials, storage, limit, out, quiet=quiet, as_json=as_json)
        elif not config and _names_data_alone(model, data):
            for name, value in of_settings.items():
                if value is not None:
                    raise ConfigError(f"--{name} is for the settings of a model: name the model")
            _search_models(
                typed(None, model), models, folds, limit, out, quiet=quiet, as_json=as_json
            )
        else:
            for name, value in of_models.items():
                if value is not None:
                    raise ConfigError(f"--{name} is for a search over models: name no model")
            given = {name: value for name, value in of_settings.items() if value is not None}
            _search_settings(typed(model, data), given, limit, out, quiet=quiet, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None  # typer would make an Abort of it


def _resume(
    folder: Path,
    trials: int | None,
    storage: str | None,
    limit: float | None,
    out: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Go on with a search of either kind."""
    from netwright.core.errors import ConfigError
    from netwright.recipes.model_search.race_plan import has_race_plan
    from netwright.recipes.model_search.typed_search import resume_model_search
    from netwright.recipes.search.search import resume_search

    if not has_race_plan(folder):
        if out is not None:
            raise ConfigError(f"{folder} is the folder of the search: leave out --out")
        study = resume_search(folder, trials=trials, storage=storage, max_time=limit, quiet=quiet)
        _show(study, as_json=as_json)
        return
    for name, value in {"trials": trials, "storage": storage}.items():
        if value is not None:
            raise ConfigError(f"--{name} is for the settings of a model: {folder} searches models")
    with _telling_of_interrupt(f"{folder} is as it was"):
        found = resume_model_search(folder, out=out, max_time=limit, quiet=quiet)
    _show_models(found, as_json=as_json)


def _search_models(
    recipe: "Recipe",
    models: str | None,
    folds: int | None,
    limit: float | None,
    out: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    from netwright.recipes.model_search.search_models import ModelSearchRequest
    from netwright.recipes.model_search.typed_search import search_recipe

    asked = ModelSearchRequest(
        models=tuple(filter(None, map(str.strip, (models or "").split(",")))),
        folds=folds,
        max_time=limit,
    )
    with _telling_of_interrupt("nothing is saved"):
        found = search_recipe(recipe, asked, out=out, quiet=quiet)
    _show_models(found, as_json=as_json)


def _search_settings(
    recipe: "Recipe",
    given: dict[str, Any],
    limit: float | None,
    out: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    from netwright.recipes.plan.sources import load_configured
    from netwright.recipes.search.search import SearchRequest, start_search

    asked = SearchRequest(seed=recipe.seed, **given)
    study = start_search(
        recipe, load_configured(recipe), asked, out=out, max_time=limit, quiet=quiet
    )
    _show(study, as_json=as_json)


def _names_data_alone(model: str | None, data: str | None) -> bool:
    """Whether what stands in the place of the model is data, and nothing else is named."""
    from netwright.models.catalog import MODELS
    from netwright.recipes.plan.recipe import names_data

    return model is not None and data is None and model not in MODELS and names_data(model)


@contextmanager
def _telling_of_interrupt(before: str) -> Iterator[None]:
    """Say what Ctrl-C has left of a search over models; `before` it began."""
    from netwright.core.terminal.console import print_message

    try:
        yield
    except KeyboardInterrupt as interrupt:
        print_message(f"interrupted; {str(interrupt) or before}")
        raise


def _show_models(found: "ModelSearch", *, as_json: bool) -> None:
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.recipes.model_search.search_models import HTML

    folder = found.run.folder
    if as_json:
        print_json({"folder": str(folder), **found.to_json()})
        return
    if folder is not None:
        found.run.report()
        print_table(found.table_rows())
        print_result(found.sentence)
        print_result(f"leaderboard: {folder / HTML}; report: {folder / 'report.html'}")
        print_result(f"to predict: netwright predict {folder} new.csv")


def _show(study: "Study", *, as_json: bool) -> None:
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.recipes.search.report import FILE

    if as_json:
        print_json({"folder": str(study.folder), **study.to_json()})
        return
    print_table(study.best_rows())
    print_result(study.sentence)
    print_result(f"report: {study.folder / FILE}")
    print_result(f"to train the best again: {study.command}")
