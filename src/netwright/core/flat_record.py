"""Flat dataclasses as JSON and back: numbers, text and tuples of them, which JSON has as lists."""

from dataclasses import fields
from typing import Any, TypeVar

Record = TypeVar("Record")


def to_plain(record: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; tuples become lists."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
    }


def from_plain(kind: type[Record], values: dict[str, Any]) -> Record:
    """The dataclass that `to_plain` gave; lists become tuples."""
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return kind(**settings)
