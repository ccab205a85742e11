"""Spans of time as they are typed."""

import re

import pytest

from netwright.core.errors import ConfigError
from netwright.core.time_span import parse_time_span
from tests.repetition import for_each


@for_each(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), (" 2 m ", 120)]
)
def test_a_span_is_read_in_seconds(text: str, seconds: float) -> None:
    assert parse_time_span("max_time", text) == seconds


@for_each("text", ["", "soon", "10d", "-3s", "1e3"])
def test_what_is_no_span_is_refused_by_its_name(text: str) -> None:
    sentence = f"max_time must be like 90s, 10m or 2h, got {text!r}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse_time_span("max_time", text)
