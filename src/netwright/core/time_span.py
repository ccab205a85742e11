"""A span of time as a person writes it: 90, 90s, 10m or 2h."""

import re

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_time_span(name: str, text: str) -> float:
    """The span in seconds; `name` is what it is called in the refusal."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if not match:
        raise ConfigError(f"{name} must be like 90s, 10m or 2h, got {text!r}")
    return float(match[1]) * UNITS[match[2]]


def read_time_limit(written: float | str | None) -> float | None:
    """Seconds of a `max_time` that is a number or like "10m"; None: no limit."""
    if written is None:
        return None
    seconds = parse_time_span("max_time", written) if isinstance(written, str) else written
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ConfigError(f"max_time must be seconds, or like 90s, 10m or 2h, got {written!r}")
    check_positive("max_time", seconds)
    return float(seconds)
