"""A span of time as a person writes it: 90, 90s, 10m or 2h."""

import re

from netwright.core.errors import ConfigError

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_time_span(name: str, text: str) -> float:
    """The span in seconds; `name` is what it is called in the refusal."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if not match:
        raise ConfigError(f"{name} must be like 90s, 10m or 2h, got {text!r}")
    return float(match[1]) * UNITS[match[2]]
