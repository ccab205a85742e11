"""What a search is: a recipe to start from, a space around it, and how it is looked through.

It stands in `search.yaml`, so that another process, or the same one after a kill, goes on with the
very same search.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.checks import check_seed
from netwright.core.errors import ConfigError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import write_text
from netwright.recipes.judging.entries import FROM_ARRAYS
from netwright.recipes.plan.recipe import Recipe, own_parts, parse_recipe
from netwright.recipes.plan.recipe_file import read_own_recipe, to_yaml
from netwright.recipes.search.server_address import FORM, check_address, is_address
from netwright.recipes.search.space import Choices, Space, read_space
from netwright.train.callbacks.early_stopping import is_lower_better

FORMAT = 1
FILE = "search.yaml"
PLAIN = ("metric", "trials", "sampler", "pruner", "storage", "seed", "data")
KINDS = {
    "sampler": ("tpe", "random", "grid"),
    "pruner": ("median", "hyperband", "none"),
}
FILES = ("journal", "sqlite")  # the kinds of storage that are files of the folder


@dataclass(frozen=True, kw_only=True)
class SearchPlan:
    """Everything that decides which trials a search makes.

    Args:
        recipe: what is searched around; its seed is that of every trial.
        space: the settings that may change.
        metric: what decides: "val/loss", "val/accuracy" ...
        trials: how many are finished in the end, by all processes together.
        sampler: how settings are chosen.
        pruner: which trials are stopped early.
        storage: where trials are written down: a kind of file, or the address of a server.
        seed: of the sampler.
        data: the digests of the training and validation rows.
    """

    recipe: Recipe
    space: Space
    metric: str
    trials: int
    sampler: str
    pruner: str
    storage: str
    seed: int
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name, kinds in KINDS.items():
            value = getattr(self, name)
            if value not in kinds:
                raise ConfigError(f"{name} must be one of {', '.join(kinds)}, got {value!r}")
        self._check_storage()
        if isinstance(self.trials, bool) or not isinstance(self.trials, int) or self.trials < 1:
            raise ConfigError(f"trials must be a positive integer, got {self.trials!r}")
        check_seed(self.seed)
        for name, values in self.space.items():
            if self.sampler == "grid" and values.options() is None:
                raise ConfigError(
                    f"a grid needs choices or integers, {name} has the range {values.text}"
                )

    def _check_storage(self) -> None:
        if isinstance(self.storage, str) and is_address(self.storage):
            check_address(self.storage)
        elif self.storage not in FILES:
            raise ConfigError(
                f"storage must be journal, sqlite or an address like {FORM}, got {self.storage!r}"
            )

    @property
    def on_server(self) -> bool:
        """Whether a server keeps the trials, not a file."""
        return self.storage not in FILES

    @property
    def is_lower_better(self) -> bool:
        """Whether the metric is to fall."""
        return is_lower_better(self.metric)

    @property
    def is_typed(self) -> bool:
        """Whether a command can name its model and its data: they did not come from Python."""
        return bool(self.recipe.model and self.recipe.data) and not self.recipe.own

    def to_mapping(self) -> dict[str, Any]:
        """The plan as it stands in `search.yaml`."""
        return {
            "format": FORMAT,
            **{name: getattr(self, name) for name in PLAIN},
            "space": {
                name: list(values.values) if isinstance(values, Choices) else values.text
                for name, values in self.space.items()
            },
            "recipe": self.recipe.to_mapping(),
        }


def write_plan(folder: Path, plan: SearchPlan) -> None:
    """Write `search.yaml`."""
    write_text(folder / FILE, to_yaml(plan.to_mapping()))


def check_same_search(folder: Path, plan: SearchPlan) -> None:
    """Refuse to join a search that is another one; more or fewer trials are the same search."""
    before, now = read_plan_file(folder), plan.to_mapping()
    for name, value in now.items():
        if name != "trials" and before.get(name) != value:
            raise ConfigError(f"{folder} contains another search: its {name} differs")


def read_plan(folder: Path) -> SearchPlan:
    """The plan of a search that is named by its folder."""
    values = read_plan_file(folder)
    section = values["recipe"]
    if not isinstance(section, Mapping) or not isinstance(section.get("model"), Mapping):
        raise ConfigError(f"{folder / FILE} must hold a recipe with a model, got {section!r:.60}")
    came = not section["model"].get("name") or own_parts(section)
    if section.get("data") == FROM_ARRAYS or came:
        raise ConfigError(
            f"{folder} is a search on objects passed from Python: call nw.search again with them, "
            f"and with this folder as out"
        )
    recipe = parse_recipe(section)
    plain = {name: values[name] for name in PLAIN}
    return SearchPlan(recipe=recipe, space=read_space(values["space"], recipe), **plain)


def read_plan_file(folder: Path) -> Mapping[str, Any]:
    """The mapping in `search.yaml`; a folder that holds no search is refused."""
    if not folder.exists():
        raise ConfigError(
            f"{folder}: there is no such folder; a search over models removes its own when it ends"
        )
    if not has_file(folder / FILE):
        raise ConfigError(f"{folder} contains no search: it has no {FILE}")
    values = read_own_recipe(folder, FILE)
    if values.get("format") != FORMAT or not {*PLAIN, "space", "recipe"} <= values.keys():
        raise ConfigError(f"{folder / FILE} is not a search of format {FORMAT}")
    return values
