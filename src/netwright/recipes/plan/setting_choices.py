"""What a setting can be given, for forms: the names that it takes, and the bounds of a number."""

import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from netwright.core.config import Config, OneOf

_BOUNDS = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most"}
_HUGE = 2**62  # bounds of 64 bits are not worth a word


@dataclass(frozen=True)
class Choices:
    """What a setting takes.

    Args:
        options: the names, where there is a table of them or a few are allowed; else none.
        bounds: between what a number may lie, in words.
    """

    options: tuple[str, ...] = ()
    bounds: str = ""


def setting_choices(cls: type[Config]) -> dict[str, Choices]:
    """What each setting of a config takes, by name."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {name: Choices(_options(hint), _bounds(hint)) for name, hint in hints.items()}


def _parts(hint: Any, marks: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The types that a hint allows, each with its marks."""
    if get_origin(hint) is Annotated:
        bare, *own = get_args(hint)
        yield from _parts(bare, (*marks, *own))
    elif get_origin(hint) in {typing.Union, types.UnionType}:
        for part in get_args(hint):
            yield from _parts(part, marks)
    else:
        yield hint, marks


def _options(hint: Any) -> tuple[str, ...]:
    """The names that a field takes; none where it takes anything else too."""
    names: list[str] = []
    for part, marks in _parts(hint):
        tables = [mark.catalog for mark in marks if isinstance(mark, OneOf)]
        if get_origin(part) is typing.Literal:
            names += map(str, get_args(part))
        elif part is bool:
            names += ["true", "false"]
        elif part is str and tables:
            names += [name for table in tables for name in table]
        elif part is not type(None):
            return ()
    return tuple(names)


def _bounds(hint: Any) -> str:
    parts = list(_parts(hint))
    items = [get_args(part)[0] for part, _ in parts if get_origin(part) is tuple and get_args(part)]
    found = [
        f"{word} {bound:g}"
        for _, marks in (*parts, *(one for item in items for one in _parts(item)))
        for mark in marks
        for name, word in _BOUNDS.items()
        if isinstance(bound := getattr(mark, name, None), int | float) and abs(bound) < _HUGE
    ]
    return ", ".join(dict.fromkeys(found))
