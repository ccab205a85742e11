"""Flat dataclasses go to JSON and come back the same."""

import json
from dataclasses import dataclass

from netwright.core.flat_record import from_plain, to_plain


@dataclass(frozen=True, kw_only=True)
class Point:
    """Something with every kind of field."""

    place: tuple[float, ...]
    name: str = ""
    weight: float = 1.0
    tags: tuple[str, ...] = ()


def test_a_record_comes_back_from_json_with_its_tuples() -> None:
    point = Point(place=(0.1, -2.5), name="a", tags=("x", "y"))
    plain = to_plain(point)
    assert plain == {"place": [0.1, -2.5], "name": "a", "weight": 1.0, "tags": ["x", "y"]}
    assert from_plain(Point, json.loads(json.dumps(plain))) == point
    assert from_plain(Point, {"place": [1.0]}) == Point(place=(1.0,))
