"""Spans of time as they are typed."""

import re

import pytest

from netwright.core.errors import ConfigError
from netwright.core.time_span import parse_time_span, read_time_limit
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


@for_each(("written", "seconds"), [(None, None), (90, 90), (0.5, 0.5), ("10m", 600)])
def test_a_limit_is_a_number_a_span_or_none(
    written: float | str | None, seconds: float | None
) -> None:
    assert read_time_limit(written) == seconds


@for_each("written", [0, -1.0, float("nan"), True, [1]])
def test_what_is_no_limit_is_refused(written: float) -> None:
    with pytest.raises(ConfigError, match="max_time must be"):
        read_time_limit(written)
