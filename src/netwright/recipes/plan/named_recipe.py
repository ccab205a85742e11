"""From the names and settings that a caller gives to a recipe; nothing is loaded or built."""

from collections.abc import Callable
from typing import Any

from torch import nn

from netwright.core.checks import check_seed
from netwright.core.config import Config, parse
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.plan.given_settings import given_to, sort_settings
from netwright.recipes.plan.recipe import (
    Recipe,
    has_own_rule,
    merge,
    parse_recipe,
    with_own_settings,
)
from netwright.recipes.plan.sources import named_source, settings_type
from netwright.train.settings import TrainConfig

OwnModel = nn.Module | Callable[[], nn.Module] | Callable[[DataSpec], nn.Module]


def name_recipe(
    model: str | Config | OwnModel, data: Any, *, seed: int = 0, **settings: Any
) -> tuple[Recipe, dict[str, Any]]:
    """The recipe, and the settings of its data as they were given.

    A recipe has no settings of arrays and frames, nor of a module of one's own.
    """
    check_seed(seed)
    name, kind = model_type(model)
    kinds = {
        "model": kind,
        "data": settings_type(data, given_to("data", settings)),
        "train": TrainConfig,
    }
    given = sort_settings(settings, kinds, own_rule=has_own_rule(name))
    own, train = given["model"], given["train"]
    if own and not isinstance(model, str):
        raise ConfigError(
            f"{next(iter(own))!r} is given together with a model that is already configured"
        )
    if isinstance(model, str):
        own, train = with_own_settings(name, own, train)
    train_settings = parse(TrainConfig, train, "train")
    source, data_settings = named_source(data, given["data"])
    model_settings = model if isinstance(model, Config) else None
    if isinstance(model, str) and kind is not None:
        model_settings = parse(kind, own, "model")
    recipe = Recipe(
        model=name,
        model_settings=model_settings,
        data=source,
        data_settings=data_settings,
        train=train_settings,
        seed=seed,
    )
    return recipe, given["data"]


def change_recipe(recipe: Recipe, *, seed: int | None = None, **settings: Any) -> Recipe:
    """The recipe with these settings in place of its own."""
    if not recipe.model or not recipe.data:
        raise ConfigError(f"{recipe!r} does not hold what came from Python: give model and data")
    kinds = {
        "model": MODELS.load(recipe.model).settings,
        "data": None if recipe.data_settings is None else type(recipe.data_settings),
        "train": TrainConfig,
    }
    given = sort_settings(settings, kinds, own_rule=has_own_rule(recipe.model))
    before = recipe.to_mapping()
    if "train" in settings:
        before["train"] = {}
    own, train = with_own_settings(recipe.model, given["model"], given["train"])
    changes = {"model": own, "data": given["data"], "train": train}
    return parse_recipe({**merge(before, changes), "seed": recipe.seed if seed is None else seed})


def model_type(model: str | Config | OwnModel) -> tuple[str, type[Config] | None]:
    """The catalog's name and settings of what the caller calls a model."""
    if isinstance(model, str):
        return model, MODELS.load(model).settings
    if isinstance(model, nn.Module) or _makes_one(model):
        return "", None
    for name in MODELS:
        if MODELS.load(name).settings is type(model):
            return name, type(model)
    raise ConfigError(
        "model must be a name, a config of a model, an nn.Module or a function that returns one, "
        f"got {type(model).__name__}"
    )


def _makes_one(model: Any) -> bool:
    """Whether it may be a function or a class that makes a module."""
    return callable(model) and not (isinstance(model, type) and issubclass(model, Config))
