"""A run as it is planned in a form: names and typed settings in, a checked recipe out.

What a form says is said as `netwright train` would be told: the same settings, typed the same way,
and the same refusals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from netwright.core.config import Config, Field, describe
from netwright.core.errors import ConfigError, NetwrightError
from netwright.data.catalog import SOURCES
from netwright.data.spec import InputKind, TargetKind
from netwright.models.catalog import MODELS
from netwright.recipes.plan.model_fit import models_for
from netwright.recipes.plan.recipe import Recipe, data_section, parse_recipe
from netwright.recipes.plan.setting_choices import setting_choices
from netwright.recipes.plan.sources import load_named
from netwright.recipes.plan.typed_settings import nest_typed
from netwright.train.settings import TrainConfig

SECTIONS = ("model", "data", "train")
COLUMNS = ("target", "text", "source")  # settings of data that name a column


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """What a form holds.

    Args:
        data: a name in the catalog, or a path.
        model: a name in the catalog.
        settings: typed values by section and name: {"train.lr": "0.1"}.
        seed: of the run.
    """

    data: str
    model: str
    settings: Mapping[str, str]
    seed: int = 0

    def recipe(self) -> Recipe:
        """The recipe, checked; what is wrong with it is refused in one sentence."""
        typed = self._by_section()
        data = nest_typed(typed["data"])
        section = data_section(self.data, data)
        kinds = {field.name: field.kind for field in describe(SOURCES.load(section["name"]).config)}
        for column in COLUMNS:  # a column's name may hold a comma
            if isinstance(data.get(column), str) and kinds.get(column, "").startswith("list of"):
                data[column] = [data[column]]
        return parse_recipe(
            {
                "seed": self.seed,
                "model": {"name": self.model, **nest_typed(typed["model"])},
                "data": {**section, **data},
                "train": nest_typed(typed["train"]),
            }
        )

    def _by_section(self) -> dict[str, dict[str, str]]:
        typed: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
        for path, value in self.settings.items():
            section, dot, name = path.partition(".")
            if section not in typed or not dot or not name or name in {"name", "path"}:
                raise ConfigError(f"a setting is named like train.lr, got {path!r:.100}")
            typed[section][name] = value
        return typed


@dataclass(frozen=True, kw_only=True)
class FormField(Field):
    """A setting with what a form needs to ask for it; see `Field` and `Choices`."""

    options: tuple[str, ...]
    bounds: str


def fitting_models(data: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The models that read such data, each with its sentence.

    Args:
        data: a name in the catalog, or a path; a file is not read, a set of the catalog may be.
        settings: of the data; with a text column, say, a table is one of texts.
    """
    kinds = _kinds_of(_source_of(data, settings))
    names = [name for kind, target in kinds for name in models_for(kind, target)]
    return {name: MODELS.load(name).card.sentence for name in dict.fromkeys(names or MODELS)}


@cache
def _kinds_of(source: str) -> tuple[tuple[InputKind, TargetKind | None], ...]:
    """What a source gives, as far as that is known; none where it is not."""
    declared = SOURCES.load(source).inputs
    if declared:
        return tuple((kind, None) for kind in declared)
    try:
        spec = load_named(source, {}).spec
    except NetwrightError:  # it needs a file, or is not on this machine
        return ()
    return ((spec.inputs, spec.target),)


def form_fields(model: str, data: str, settings: Mapping[str, Any]) -> dict[str, list[FormField]]:
    """Every setting of model, data and training, with what a form needs to ask for it."""
    kinds = {
        "model": MODELS.load(model).settings,
        "data": SOURCES.load(_source_of(data, settings)).config,
        "train": TrainConfig,
    }
    return {section: fields_of(kind) for section, kind in kinds.items()}


def fields_of(kind: type[Config]) -> list[FormField]:
    """The settings of a config, with what a form needs to ask for each."""
    choices = setting_choices(kind)
    return [
        FormField(**vars(field), **vars(choices[field.name]))
        for field in describe(kind)
        if field.name != "path"
    ]


def _source_of(data: str, settings: Mapping[str, Any]) -> str:
    given = {name.removeprefix("data."): value for name, value in settings.items()}
    return str(data_section(data, given)["name"])
