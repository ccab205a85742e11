"""Fields of a dataclass: all that their annotations allow, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from netwright.core.errors import DataError
from netwright.core.field_kinds import check_fields
from tests.repetition import for_each


@dataclass(frozen=True, kw_only=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    count: int = 1
    share: float = 0.5
    name: str = "a"
    flag: bool = False
    mode: Literal["fast", "slow"] = "fast"
    limit: int | None = None
    widths: tuple[int, ...] = (1, 2)
    shape: tuple[int, float] = (1, 2.5)
    inner: Inner = Inner()
    parts: Mapping[str, Inner] | None = None
    free: Any = None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share": 1, "limit": 3, "widths": (), "shape": (2, 3), "mode": "slow"},
        {"parts": {"a": Inner(depth=2)}, "free": object()},
    ],
)
def test_what_is_declared_passes(changes: dict[str, Any]) -> None:
    check_fields(replace(Outer(), **changes))


@for_each(
    ("name", "value"),
    [
        ("count", True),
        ("count", 1.0),
        ("share", float("nan")),
        ("share", "1"),
        ("share", 10**400),
        ("name", None),
        ("flag", 0),
        ("mode", "other"),
        ("mode", 1),
        ("limit", "3"),
        ("widths", [1]),
        ("widths", (1, None)),
        ("shape", (1, 2.5, 3)),
        ("shape", 5),
        ("inner", {"depth": 1}),
        ("parts", {"a": 1}),
        ("parts", {1: Inner()}),
        ("parts", [1]),
    ],
)
def test_another_kind_is_refused_by_the_name_of_the_field(name: str, value: Any) -> None:
    with pytest.raises(DataError, match=f"^{name} of Outer has the wrong type: "):
        check_fields(replace(Outer(), **{name: value}))


def test_a_dataclass_inside_is_looked_through() -> None:
    with pytest.raises(DataError, match=r"^depth of Inner has the wrong type: 'deep'$"):
        check_fields(Outer(inner=Inner(depth="deep")))  # type: ignore[arg-type]
