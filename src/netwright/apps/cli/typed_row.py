"""One row as a person types it after an option."""

from collections.abc import Collection
from typing import Any


def read_row(text: str, columns: Collection[str] = (), option: str = "--row") -> dict[str, Any]:
    """One row from "a=1,b=x" or from a JSON object.

    Args:
        text: as it was typed.
        columns: of which some may hold "=" in their name; they are read to their end.
        option: after which it was typed.
    """
    from netwright.core.errors import ConfigError
    from netwright.core.files.json_text import json_value

    if text.lstrip().startswith("{"):
        try:
            values = json_value(text)
        except ValueError as error:
            raise ConfigError(f"{option} is not JSON: {error}") from None
        return dict(values)
    pairs = [_pair(part.strip(), columns) for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ConfigError(f'{option} must be like "a=1,b=x" or a JSON object, got {text!r}')
    return {name.strip(): value.strip() for name, _, value in pairs}


def _pair(part: str, columns: Collection[str]) -> tuple[str, str, str]:
    """Name, "=" and value: the longest name that is a column, else what stands before the "="."""
    fitting = [
        name
        for name in columns
        if part.startswith(name) and part.removeprefix(name).lstrip().startswith("=")
    ]
    if not fitting:
        return part.partition("=")
    name = max(fitting, key=len)
    return name, "=", part.removeprefix(name).partition("=")[2]
