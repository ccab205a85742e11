"""A view whose text can be drawn: names from data with their control characters made visible.

No font has such characters, no SVG may hold them, and half of a surrogate pair cannot be drawn.
"""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from netwright.core.visible import visible

Value = TypeVar("Value")


def with_visible_text(value: Value) -> Value:
    """The value itself where all of its text can be drawn, else a copy whose text can."""
    return _shown(value)  # type: ignore[no-any-return]


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        new = visible(value)
        return value if new == value else new
    if isinstance(value, tuple | list):
        parts = [_shown(part) for part in value]
        return value if _are_same(parts, value) else _sequence_like(value, parts)
    if isinstance(value, dict):
        keys = [_shown(key) for key in value]
        parts = [_shown(part) for part in value.values()]
        is_same = _are_same(keys, value) and _are_same(parts, value.values())
        return value if is_same else dict(zip(keys, parts, strict=True))
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: new for name, part in old.items() if (new := _shown(part)) is not part}
        return replace(value, **changed) if changed else value
    return value


def _are_same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(one is other for one, other in zip(new, old, strict=True))


def _sequence_like(value: Any, parts: list[Any]) -> Any:
    """A list, a tuple or a named tuple of these parts."""
    make = getattr(value, "_make", type(value))
    return make(parts)
