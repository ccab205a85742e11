"""A search over models as a command names it: by a recipe, or by the folder of an earlier one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.source import DataConfig
from netwright.recipes.judging.folds import FoldableData, foldable
from netwright.recipes.model_search.race_plan import read_race_plan
from netwright.recipes.model_search.search_models import (
    ModelSearch,
    ModelSearchRequest,
    start_model_search,
)
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.sources import load_configured


def search_recipe(
    recipe: Recipe,
    asked: ModelSearchRequest,
    *,
    out: Path | None = None,
    resume: Path | None = None,
    quiet: bool = False,
) -> ModelSearch:
    """Search the best model for the data of a recipe; see `search_models`."""
    kinds = SOURCES.load(recipe.data).inputs  # none: known only once it is read
    is_other = bool(kinds) and "features" not in kinds
    settings = recipe.data_settings
    if is_other or not isinstance(settings, DataConfig):
        raise ConfigError(f"a search over models is for tables, not for {recipe.data}")

    def load(more: dict[str, Any]) -> tuple[Recipe, Data]:
        changed = replace(recipe, data_settings=replace(settings, **more))
        return changed, load_configured(changed)

    def divide(own: Recipe, loaded: Data) -> FoldableData:
        return foldable(own.data, own.data_settings, loaded, keeps_test=True)

    return start_model_search(load, divide, asked, out=out, resume=resume, quiet=quiet)


def resume_model_search(
    folder: Path,
    *,
    out: Path | None = None,
    max_time: float | None = None,
    quiet: bool = False,
) -> ModelSearch:
    """Go on with a search that was broken off.

    Args:
        folder: that keeps it.
        out: the run folder; by default the next free one.
        max_time: seconds for the whole search, those before included; None: as before.
        quiet: print nothing.
    """
    plan = read_race_plan(folder)
    asked = ModelSearchRequest(
        models=plan.models,
        folds=plan.folds if plan.learned == plan.folds else None,
        max_time=plan.max_time if max_time is None else max_time,
    )
    return search_recipe(plan.recipe, asked, out=out, resume=folder, quiet=quiet)
