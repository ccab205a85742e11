"""One row as a person types it after --row."""

from typing import Any


def read_row(text: str) -> dict[str, Any]:
    """One row from "a=1,b=x" or from a JSON object."""
    from netwright.core.errors import ConfigError
    from netwright.core.files.json_text import json_value

    if text.lstrip().startswith("{"):
        try:
            values = json_value(text)
        except ValueError as error:
            raise ConfigError(f"--row is not JSON: {error}") from None
        return dict(values)
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ConfigError(f'--row must be like "a=1,b=x" or a JSON object, got {text!r}')
    return {name.strip(): value.strip() for name, _, value in pairs}
