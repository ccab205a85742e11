"""From what a caller calls data (a name, a path, arrays, a frame) to data."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from netwright.core.config import Config, field_names, parse
from netwright.core.devices import pick_device
from netwright.core.errors import ConfigError
from netwright.core.kernel_start import wake_kernels
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.given.catalog import form_of
from netwright.data.given.given import Given
from netwright.data.preprocessing import Preprocessor
from netwright.data.source import Source
from netwright.models.catalog import MODELS
from netwright.recipes.plan.given_settings import SOURCE, given_to
from netwright.recipes.plan.model_fit import check_source_fits
from netwright.recipes.plan.recipe import (
    QUESTIONS,
    TABLE,
    TEXT_TABLE,
    VOCABULARY,
    WORDS,
    Recipe,
    data_section,
    has_questions,
    has_tokens,
    pretraining_texts,
    reads_words,
)


def settings_type(source: Any, given: Mapping[str, Any] | None = None) -> type[Config] | None:
    """The settings that a source takes; None for data that is ready.

    Args:
        source: what the caller calls data.
        given: the settings that are given beside it: with `text`, a table is one with a text in
            each row; `name` is that of a source which reads a file.
    """
    given = given or {}
    if isinstance(source, str | Path):
        return SOURCES.load(source_section(source, given)["name"]).config
    if isinstance(source, Data):
        return None
    own = source.data if isinstance(source, Given) else source
    return form_of(own).settings(own, given)


def source_section(source: str | Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The data section of a name or a path; a source that is named reads it."""
    section = data_section(source, given)
    if given.get("name") == WORDS and "path" not in section:
        section["path"] = section["name"]  # a published corpus
    return {**section, "name": given["name"]} if "name" in given else section


def text_settings(
    model: str, source: Any, settings: Mapping[str, Any], start_from: str = ""
) -> dict[str, str]:
    """How a model reads a named text: by which source, and with the tokens of which run.

    Args:
        model: its name.
        source: what the caller calls data.
        settings: that are given beside it.
        start_from: a run whose weights are the first ones; its tokens are taken where they can be.
    """
    given = given_to("data", settings)
    kind = settings_type(source, given) if has_tokens(start_from) else None
    is_to_take = kind and VOCABULARY in field_names(kind) and not given.get(VOCABULARY)
    tokens = {f"data.{VOCABULARY}": start_from} if is_to_take else {}
    return {**_own_source(model, source, settings), **tokens}


def _own_source(model: str, source: Any, settings: Mapping[str, Any]) -> dict[str, str]:
    """The source by which a model reads a named text in its own way: as words, or covered."""
    if not isinstance(source, str | Path):
        return {}
    if reads_words(model):
        return {SOURCE: WORDS}
    for_pretraining = pretraining_texts(model)
    if not for_pretraining:
        return {}
    given = given_to("data", settings)
    section = source_section(source, given)
    if has_questions(model, {**section, **given}):
        return {SOURCE: QUESTIONS}
    name = section["name"]
    return {SOURCE: for_pretraining[name]} if name in for_pretraining else {}


def check_readable(model: str, source: Any, settings: Mapping[str, Any]) -> None:
    """Refuse a model of the catalog that cannot read what a named source would give."""
    if isinstance(source, str | Path):
        section = source_section(source, given_to("data", settings))
        check_source_fits(model, section["name"], Path(section.get("path", "")).name)


def named_source(source: Any, settings: Mapping[str, Any]) -> tuple[str, Config | None]:
    """The name and the settings of a source in the catalog; both are empty for any other data."""
    if not isinstance(source, str | Path):
        return "", None
    section = {**source_section(source, settings), **settings}
    name = section.pop("name")
    return name, parse(SOURCES.load(name).config, section, "data")


def load_source(source: Any, settings: Mapping[str, Any]) -> tuple[str, Config | None, Data]:
    """The name, the settings and the data; name and settings are empty for what is no file."""
    if isinstance(source, Data):
        return "", None, source
    if isinstance(source, str | Path):
        name, named = named_source(source, settings)
        return name, named, _timed(SOURCES.load(name), named)
    given = source if isinstance(source, Given) else Given(data=source)
    _check_beside(given, settings)
    form = form_of(given.data)
    given = form.unpack(given)
    if given.groups is not None and not form.has_rows:
        raise ConfigError(f"groups are for rows that are held out, {form.name} has none")
    config = parse(form.settings(given.data, settings), given.with_sizes(settings), "data")
    return "", None, form.load(given, config)


def load_named(name: str, settings: dict[str, Any]) -> Data:
    """The data of a source by its name in the catalog, with its settings."""
    source = SOURCES.load(name)
    return _timed(source, parse(source.config, settings, "data"))


def reload_named(name: str, settings: dict[str, Any], preprocessor: Preprocessor) -> Data | None:
    """The same as a run has it, encoded by its preprocessor; None where nothing is inferred."""
    source = SOURCES.load(name)
    if source.reload is None:
        return None
    return source.reload(parse(source.config, settings, "data"), preprocessor)


def load_configured(recipe: Recipe) -> Data:
    """The data that a recipe names; what its model cannot read is not loaded."""
    place = Path(getattr(recipe.data_settings, "path", "")).name
    check_source_fits(recipe.model, recipe.data, place)
    device = pick_device(recipe.train.device)
    if device.type == "cuda":
        convolves = bool(recipe.model) and MODELS.load(recipe.model).inputs == {"image"}
        index = torch.cuda.current_device() if device.index is None else device.index
        wake_kernels(torch.device("cuda", index), convolves=convolves)
    return _timed(SOURCES.load(recipe.data), recipe.data_settings)


def _check_beside(given: Given, settings: Mapping[str, Any]) -> None:
    """Refuse validation rows, test rows and groups beside data that has its own way to divide."""
    if isinstance(given.data, Data):
        raise ConfigError(
            "validation, test and groups say what the splits are, which Data has: give "
            "dataclasses.replace(data, val=..., test=...)"
        )
    if isinstance(given.data, str | Path):
        name = source_section(given.data, settings)["name"]
        if name not in {TABLE, TEXT_TABLE}:
            raise ConfigError(
                f"validation, test and groups cannot be given beside {given.data}, which says "
                f"itself what its splits are: a folder by folders named train, val and test; give "
                f"tables, frames or arrays"
            )


def _timed(source: Source, config: Any) -> Data:
    started = time.monotonic()
    data = source.load(config)
    return replace(data, load_seconds=time.monotonic() - started)
