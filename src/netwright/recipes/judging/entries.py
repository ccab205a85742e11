"""From what a caller compares (a model by name, a config, a recipe file, a run folder) to recipes.

mlp                         a model of the catalog
mlp:dropout=0:lr=0.01       the same with settings, of the model or of training
MLPConfig(dropout=0.0)      a config
wide.yaml                   a recipe file; its seed is not used
runs/mlp-digits-001         a run folder; its recipe is trained anew
runs/resnet18-imported-001  an imported one; its model is trained from its weights
MyNet                       a class or function that makes a module of one's own
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.config import Config, parse, to_mapping
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.fit import prepare, put_together
from netwright.recipes.plan.given_settings import SECTIONS, given_to
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import DEFAULTS, Recipe, is_imported, parse_recipe
from netwright.recipes.plan.recipe_file import read_own_recipe, read_recipe_file
from netwright.recipes.plan.typed_settings import nest_typed, setting_words
from netwright.recipes.ready.catalog import recipe_path
from netwright.recipes.saved.run_folder import check_run_folder
from netwright.train.own.names import name_of
from netwright.train.own.parts import NO_PARTS, OwnParts
from netwright.train.settings import TrainConfig

Settings = Mapping[str, Any]
FROM_ARRAYS = {"name": ""}  # the data section of a run on arrays, which it does not hold
SHARED = ("model", "data", "seed")


@dataclass(frozen=True, kw_only=True)
class ComparisonEntry:
    """One of the things to compare, before it meets the data.

    Args:
        label: what it is called; empty for a config, whose recipe says it best.
        resolve: (data, settings of training and objects that all entries share) -> its recipe.
        data: the data section of its own recipe; None where it names no data.
        make: makes the module, where it is of the caller's own.
    """

    label: str
    resolve: Callable[..., Recipe]
    data: Settings | None = None
    make: OwnModel | None = None


def read_entry(source: str | Path | Config | OwnModel) -> ComparisonEntry:
    """Tell what a caller means; names and files that are not there are refused."""
    if isinstance(source, Config):
        return ComparisonEntry(label="", resolve=partial(_resolve_model, source, {}))
    if isinstance(source, nn.Module):
        name = type(source).__name__
        raise ConfigError(
            f"an entry draws new weights under every seed, {name} has its own: give a class or "
            f"function that makes it, as in lambda: {name}(...)"
        )
    if not isinstance(source, str | Path):
        if not callable(source):
            raise ConfigError(
                "an entry must be a model's name, a config, a recipe file, a run folder or a "
                f"function that makes a module, got {type(source).__name__}"
            )
        label, resolve = name_of(source), partial(_resolve_model, source, {})
        return ComparisonEntry(label=label, resolve=resolve, make=source)
    head, *pairs = re.split(r":(?=[\w.-]+=)", str(source))
    model, colon, rest = head.partition(":")
    if colon and model in MODELS:
        raise ConfigError(f"settings of {model} must be like {model}:lr=0.01, got {rest!r}")
    path = Path(head)
    if head in MODELS or not ("/" in head or path.suffix or path.exists()):
        MODELS.check(head)
        settings = _own_settings(pairs)
        return ComparisonEntry(label=str(source), resolve=partial(_resolve_model, head, settings))
    if pairs:
        raise ConfigError(
            f"{head} is a recipe: settings can only follow a model's name, got {pairs[0]!r}"
        )
    return _read_recipe(path)


def choose_data(given: Any, entries: Sequence[ComparisonEntry]) -> tuple[Any, dict[str, Any]]:
    """The source and its settings: what is given, else what the entries' recipes name.

    Args:
        given: what `load_source` takes, a data section (with or without a name), or None.
        entries: whose recipes must agree where they are asked; without any it is the digits.
    """
    if given is not None and not isinstance(given, Mapping):
        return given, {}
    section = dict(given or {})
    if "name" not in section:
        section = {**_agreed_data(entries), **section}
    path = section.pop("path", "")
    return (path, section) if path else (section.pop("name"), section)


def _agreed_data(entries: Sequence[ComparisonEntry]) -> Settings:
    named = [(entry.label, entry.data) for entry in entries if entry.data is not None]
    if not named:
        return {"name": "digits"}
    first, data = named[0]
    for label, other in named:
        if other == FROM_ARRAYS:
            raise ConfigError(
                f"{label} was trained on arrays that are not saved with it; give the data"
            )
        if is_imported(other):
            raise ConfigError(f"{label} was imported and has no data of its own; give the data")
        if other != data:
            raise ConfigError(
                f"all entries need the same data: {first} names {_unlike(data, other)}, "
                f"{label} names {_unlike(other, data)}; give the data"
            )
    return data


def _unlike(data: Settings, other: Settings) -> str:
    """A data section by its name and what sets it apart from the other."""
    if data["name"] != other["name"]:
        return str(data.get("path", data["name"]))
    apart = {name: value for name, value in data.items() if value != other[name]}
    return f"{data['name']} with {', '.join(setting_words(apart))}"


def _own_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """["optimizer_options.momentum=0.9", "model.kernel=5"] by name, short or exact."""
    typed: dict[str, dict[str, str]] = {section: {} for section in ("", *SECTIONS)}
    for pair in pairs:
        path, _, value = pair.partition("=")
        section, _, own = path.partition(".")
        if not own or section not in SECTIONS:
            section, own = "", path
        name, dot, deeper = own.partition(".")
        typed[section][f"{name.replace('-', '_')}{dot}{deeper}"] = value
    for name in SHARED:
        if name in typed[""] or (name == "data" and typed[name]):
            raise ConfigError(f"{name!r} cannot be set for one entry: all share data and seeds")
    return {
        f"{section}.{name}" if section else name: value
        for section, given in typed.items()
        for name, value in nest_typed(given).items()
    }


def _resolve_model(
    model: str | Config | OwnModel,
    settings: dict[str, Any],
    data: Data,
    shared: Settings,
    own: OwnParts = NO_PARTS,
) -> Recipe:
    """Sorted and refused as `fit` does; what the entry itself says wins."""
    taken = given_to("train", settings)
    of_all = {f"train.{name}": value for name, value in shared.items() if name not in taken}
    return prepare(model, data, own=own, **{**of_all, **settings}).recipe


def _resolve_recipe(
    recipe: Recipe, data: Data, shared: Settings, own: OwnParts = NO_PARTS
) -> Recipe:
    """What all entries share wins, as the command line does over files."""
    train = parse(TrainConfig, {**to_mapping(recipe.train), **shared}, "train")
    return put_together(replace(recipe, train=train), data, own=own).recipe


def _read_recipe(path: Path) -> ComparisonEntry:
    path = recipe_path(path)
    is_folder = path.is_dir() or not (path.suffix or path.is_file())
    if is_folder:
        check_run_folder(path)
    values = read_own_recipe(path) if is_folder else read_recipe_file(path)
    if values.get("model") == {"name": ""}:
        raise ConfigError(f"{path} contains a user-defined module, which cannot be rebuilt")
    section = values.pop("data", None)
    if is_imported(section):
        values["from"] = str(path)
    elif section not in (None, FROM_ARRAYS):
        values["data"] = section
    recipe = parse_recipe({**DEFAULTS, **values})
    return ComparisonEntry(
        label=path.resolve().name if is_folder else path.stem,
        resolve=partial(_resolve_recipe, recipe),
        data=recipe.to_mapping()["data"] if "data" in values else section,
    )
