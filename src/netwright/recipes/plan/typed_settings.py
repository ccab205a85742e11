"""Settings as one types them: hidden=64,32, batch_norm=true, optimizer_options.momentum=0.9.

A typed value is text, and the setting knows its type. What text cannot say is typed as JSON: null
for nothing, "1" for a text that would be read as a number, ["a, b"] for a text with a comma.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from netwright.core.config import Config, as_held
from netwright.core.errors import ConfigError
from netwright.core.files.json_text import json_value
from netwright.recipes.plan.recipe_file import typed_value

Settings = Mapping[str, Any]
NULL = "null"
_PLAIN_KEY = re.compile(r"[\w-]+")


def read_typed(text: str, *, is_declared: bool) -> Any:
    """The value of a typed text.

    Args:
        text: as it was typed.
        is_declared: the setting knows its type and takes text; what lies deeper in a mapping is
            read as what it looks like.
    """
    text = text.strip()
    if text == NULL or text[:1] in {'"', "[", "{"}:
        try:
            return json_value(text)
        except ValueError:  # a text that only begins like JSON
            pass
    return text if is_declared else typed_value(text)


def nest_typed(pairs: Mapping[str, str]) -> dict[str, Any]:
    """{"optimizer_options.momentum": "0.9", "lr": "0.1"} as nested settings with their values."""
    settings: dict[str, Any] = {}
    for path, text in pairs.items():
        *way, last = path.split(".")
        place = settings
        for step in way:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{step!r} is given as a whole and in parts, by {path!r}")
        place[last] = read_typed(text, is_declared=not way)
    return settings


def setting_words(settings: Settings, kind: type[Config] | None = None) -> list[str]:
    """Settings as words: NAME=VALUE."""
    return [f"{name}={text}" for name, text in typed_settings(settings, kind).items()]


def typed_settings(settings: Settings, kind: type[Config] | None = None) -> dict[str, str]:
    """Values as they are typed, by name; what lies deeper has a dotted one.

    Args:
        settings: plain values by name.
        kind: the config that will read them, for values that plain text cannot say; without it
            the text is for people alone.
    """
    typed: dict[str, str] = {}
    for name, value in settings.items():
        deeper = dict(_flat(name, value)) if isinstance(value, Mapping) else None
        if deeper is not None and (kind is None or _is_read_back(name, value, deeper)):
            typed |= deeper
        elif kind is None or _is_said_by_text(kind, name, value):
            typed[name] = _text(value)
        else:
            typed[name] = json.dumps(value, ensure_ascii=False)
    return typed


def _is_said_by_text(kind: type[Config], name: str, value: Any) -> bool:
    """Whether the plain text of a value is read as the value itself."""
    try:
        read = as_held(kind, name, read_typed(_text(value), is_declared=True))
    except ConfigError:
        return False
    return bool(read == value)


def _flat(path: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The leaves of a mapping, by dotted names."""
    for key, one in value.items():
        if isinstance(one, Mapping) and one:
            yield from _flat(f"{path}.{key}", one)
        else:
            yield f"{path}.{key}", _text(one)


def _is_read_back(name: str, value: Mapping[str, Any], leaves: Mapping[str, str]) -> bool:
    """Whether dotted names and their texts give the mapping again, each value with its type."""
    if not all(_PLAIN_KEY.fullmatch(key) for path in leaves for key in path.split(".")):
        return False
    return json.dumps(nest_typed(leaves).get(name)) == json.dumps(value)


def _text(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ",".join(str(one).lower() if isinstance(one, bool) else str(one) for one in values)
