"""From what a caller calls data (a name, a path, arrays, a frame) to data."""

import time
from collections.abc import Mapping
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
from netwright.data.text.text_rows import read_text_rows
from netwright.data.text.text_table import TextTableConfig, text_table_data
from netwright.recipes.plan.model_fit import check_source_fits
from netwright.recipes.plan.recipe import Recipe, data_section


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
    if is_frame(source):
        return TextTableConfig if "text" in given else TableConfig
    return ArraysConfig


def source_section(source: str | Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """The data section of a name or a path; a source that is named reads it."""
    section = data_section(source, given)
    return {**section, "name": given["name"]} if "name" in given else section


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
    if is_frame(source):
        return "", None, _frame_data(source, settings)
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
    """The data that a recipe names; what its model cannot read is not loaded."""
    place = Path(getattr(recipe.data_settings, "path", "")).name
    check_source_fits(recipe.model, recipe.data, place)
    return _timed(SOURCES.load(recipe.data), recipe.data_settings)


def _frame_data(frame: Any, settings: Mapping[str, Any]) -> Data:
    if "text" in settings:
        config = parse(TextTableConfig, settings, "data")
        return text_table_data(read_text_rows(frame), config)
    return from_frame(frame, parse(TableConfig, settings, "data"))


def _timed(source: Source, config: Any) -> Data:
    started = time.monotonic()
    data = source.load(config)
    return replace(data, load_seconds=time.monotonic() - started)


def is_frame(source: Any) -> bool:
    """Whether this is a pandas frame, without importing pandas."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"
