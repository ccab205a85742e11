"""Whether the fields of a dataclass hold what their annotations say: for those that come from JSON.

A dataclass takes whatever it is given. What was read from a file of somebody else is looked through
once, so that what uses it may rely on its kinds.
"""

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin

from netwright.core.checks import is_finite_number
from netwright.core.errors import DataError


def check_fields(record: Any) -> None:
    """Refuse a dataclass, or one inside it, with a field of another kind than is declared."""
    hints = _hints(type(record))  # type: ignore[arg-type] # mypy holds that a class has no hash
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_of(value, hints[field.name]):
            raise DataError(
                f"{field.name} of {type(record).__name__} has the wrong type: {value!r:.60}"
            )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of this kind; what is inside it is looked at too."""
    if get_origin(hint) is not None:
        return _is_made_of(value, get_origin(hint), get_args(hint))
    if hint is float:
        return is_finite_number(value)
    if hint is int:
        return type(value) is int
    if is_dataclass(value) and hint is not Any:
        check_fields(value)
    return hint is Any or isinstance(value, hint)


def _is_made_of(value: Any, origin: Any, inside: tuple[Any, ...]) -> bool:
    """The same for a hint with others in it: tuple[int, ...] is made of tuple and int."""
    if origin in {typing.Union, types.UnionType}:
        return any(_is_of(value, option) for option in inside)
    if origin is typing.Literal:
        return any(value == option and type(value) is type(option) for option in inside)
    if not isinstance(value, origin) or isinstance(value, str):
        return False
    if issubclass(origin, Mapping):
        return all(
            _is_of(key, inside[0]) and _is_of(held, inside[1]) for key, held in value.items()
        )
    if origin is tuple and inside[-1] is not Ellipsis:
        return len(value) == len(inside) and all(map(_is_of, value, inside))
    return all(_is_of(one, inside[0]) for one in value)
