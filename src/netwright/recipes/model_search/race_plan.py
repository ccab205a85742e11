"""What a search over models tries, and on which rows.

It stands in `race.yaml`, so that a search that was killed goes on with the very same one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import write_text
from netwright.recipes.judging.entries import FROM_ARRAYS
from netwright.recipes.plan.recipe import Recipe, own_parts, parse_recipe
from netwright.recipes.plan.recipe_file import read_own_recipe, to_yaml

FORMAT = 1
FILE = "race.yaml"
PLAIN = ("folds", "learned", "max_time", "data")


@dataclass(frozen=True, kw_only=True)
class RacePlan:
    """Everything that decides which fits a search over models makes.

    Args:
        recipe: how networks are trained, and the seed.
        models: names of the catalog.
        folds: into which the rows are divided.
        learned: how many of them each model learns.
        max_time: seconds for everything; None: no limit.
        data: the digests of the rows to search on.
    """

    recipe: Recipe
    models: tuple[str, ...]
    folds: int
    learned: int
    max_time: float | None
    data: Mapping[str, Any]

    @property
    def is_typed(self) -> bool:
        """Whether a command can name its data: it did not come from Python."""
        return bool(self.recipe.data) and not self.recipe.own

    def to_mapping(self) -> dict[str, Any]:
        """The plan as it stands in `race.yaml`."""
        return {
            "format": FORMAT,
            **{name: getattr(self, name) for name in PLAIN},
            "models": list(self.models),
            "recipe": self.recipe.to_mapping(),
        }


def write_race_plan(folder: Path, plan: RacePlan) -> None:
    """Write `race.yaml`."""
    write_text(folder / FILE, to_yaml(plan.to_mapping()))


def has_race_plan(folder: Path) -> bool:
    """Whether this is the folder of a search over models."""
    return has_file(folder / FILE)


def check_same_race(folder: Path, plan: RacePlan) -> None:
    """Refuse to resume a search that is another one; with more or less time it is the same."""
    before, now = _read_plan_file(folder), plan.to_mapping()
    for name, value in now.items():
        if name != "max_time" and before.get(name) != value:
            raise ConfigError(f"{folder} contains another search: its {name} differs")


def read_race_plan(folder: Path) -> RacePlan:
    """The plan of a search that is named by its folder."""
    values = _read_plan_file(folder)
    section, models = values["recipe"], values["models"]
    if not isinstance(section, Mapping):
        raise ConfigError(f"{folder / FILE} must hold a recipe, got {section!r:.60}")
    if not isinstance(models, list) or not all(isinstance(name, str) for name in models):
        raise ConfigError(f"{folder / FILE} must hold a list of models, got {models!r:.60}")
    if section.get("data") == FROM_ARRAYS or own_parts(section):
        raise ConfigError(
            f"{folder} is a search on objects passed from Python: call nw.search_models again "
            f"with them, and with this folder as resume"
        )
    plain = {name: values[name] for name in PLAIN}
    return RacePlan(recipe=parse_recipe(section), models=tuple(models), **plain)


def _read_plan_file(folder: Path) -> Mapping[str, Any]:
    if not has_race_plan(folder):
        raise ConfigError(f"{folder} contains no search over models: it has no {FILE}")
    values = read_own_recipe(folder, FILE)
    if values.get("format") != FORMAT or not {*PLAIN, "models", "recipe"} <= values.keys():
        raise ConfigError(f"{folder / FILE} is not a search of format {FORMAT}")
    return values
