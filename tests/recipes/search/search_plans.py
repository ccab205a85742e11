"""Small searches that several tests make."""

from typing import Any

from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.space import read_space

RECIPE = {
    "model": {"name": "mlp", "hidden": [4]},
    "data": {"name": "moons", "n": 60},
    "train": {"epochs": 2},
}
SURFACE = ("train.lr=log:1e-4..1e-1", "model.dropout=0..0.6")


def plan(space: Any = SURFACE, **settings: Any) -> SearchPlan:
    recipe = parse_recipe(RECIPE)
    defaults = {
        "metric": "val/loss",
        "trials": 5,
        "sampler": "random",
        "pruner": "none",
        "storage": "journal",
        "seed": 0,
        "data": {"train": {"rows": 42}},
    }
    return SearchPlan(recipe=recipe, space=read_space(space, recipe), **{**defaults, **settings})
