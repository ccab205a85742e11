"""From what a caller calls data (a name, a path, arrays, a frame) to data."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from netwright.core.config import Config, parse
from netwright.core.errors import ConfigError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.source import Source
from netwright.data.tables.table import TableConfig, from_frame
from netwright.recipes.recipe import Recipe, data_section


def settings_type(source: Any) -> type[Config] | None:
    """The settings that a source takes; None for data that is ready."""
    if isinstance(source, str | Path):
        return SOURCES.load(data_section(source)["name"]).config
    if isinstance(source, Data):
        return None
    if is_frame(source):
        return TableConfig
    return ArraysConfig


def load_source(source: Any, settings: dict[str, Any]) -> tuple[str, Config | None, Data]:
    """The name, the settings and the data; name and settings are empty for what is no file."""
    if isinstance(source, Data):
        return "", None, source
    if isinstance(source, str | Path):
        section = {**data_section(source), **settings}
        name = section.pop("name")
        entry = SOURCES.load(name)
        config = parse(entry.config, section, "data")
        return name, config, _timed(entry, config)
    if is_frame(source):
        return "", None, from_frame(source, parse(TableConfig, settings, "data"))
    if isinstance(source, tuple) and len(source) in {2, 3}:
        inputs, targets, *rest = source
        config = parse(ArraysConfig, settings, "data")
        weights = rest[0] if rest else None
        return "", None, from_arrays(inputs, targets, config=config, weights=weights)
    raise ConfigError(
        f"data must be a name, a path, Data, a frame, or arrays (inputs, targets[, weights]), "
        f"got {type(source).__name__}"
    )


def load_named(name: str, settings: dict[str, Any]) -> Data:
    """The data of a source by its name in the catalog, with its settings."""
    source = SOURCES.load(name)
    return _timed(source, parse(source.config, settings, "data"))


def load_configured(recipe: Recipe) -> Data:
    """The data that a recipe names."""
    return _timed(SOURCES.load(recipe.data), recipe.data_settings)


def _timed(source: Source, config: Any) -> Data:
    started = time.monotonic()
    data = source.load(config)
    return replace(data, load_seconds=time.monotonic() - started)


def is_frame(source: Any) -> bool:
    """Whether this is a pandas frame, without importing pandas."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"
