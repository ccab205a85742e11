"""`load_recipe`: a recipe from a file, from a run folder, or by the name of a ready-made one.

recipe = nw.load_recipe("recipe.yaml")
run = nw.fit(recipe, epochs=3)
"""

from pathlib import Path

from netwright.core.checks import check_no_nul
from netwright.core.errors import ConfigError
from netwright.core.files.inside import has_file
from netwright.models.catalog import MODELS
from netwright.recipes.plan.recipe import DEFAULTS, Recipe, parse_recipe
from netwright.recipes.plan.recipe_file import read_own_recipe, read_recipe_file
from netwright.recipes.ready.catalog import names_ready, recipe_path

FROM_PYTHON = {"name": ""}  # the section of a model or of data that a run folder does not hold


def load_recipe(path: str | Path) -> Recipe:
    """The recipe in a file or of a run; a section that it leaves out is the default one.

    Args:
        path: a YAML file, a run folder, or the name of a ready-made recipe ("ready/mnist-cnn").
    """
    check_no_nul("path", path)
    file = recipe_path(Path(path))
    if not file.is_dir():
        return parse_recipe({**DEFAULTS, **read_recipe_file(file)})
    if not has_file(file / "config.yaml"):
        raise ConfigError(f"{file} holds no recipe: it has no config.yaml")
    values = read_own_recipe(file)
    for section in ("model", "data"):
        if values.get(section) == FROM_PYTHON:
            raise ConfigError(
                f"{file} holds no whole recipe: its {section} came from Python; "
                f"give nw.fit the {section} again"
            )
    return parse_recipe({**DEFAULTS, **values})


def ready_recipe(name: str) -> Recipe | str:
    """The ready-made recipe of this name; that of a model stays as it is."""
    return load_recipe(name) if name not in MODELS and names_ready(name) else name
