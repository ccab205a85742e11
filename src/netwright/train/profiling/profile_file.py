"""`profile.json` of a run folder: a profile written, and read back with each number looked at."""

from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.field_kinds import check_fields
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json, write_json
from netwright.inspection.training.update_profile import (
    HeldMemory,
    Operation,
    UpdatePart,
    UpdateProfile,
)

FILE = "profile.json"  # in a run folder
FORMAT = 1
MOST_ROWS = 1_000  # parts, operations or kinds of memory that a file may hold
LARGEST = 1e30  # of any number in it
ROWS = {"parts": UpdatePart, "operations": Operation, "memory": HeldMemory}


def write_profile(path: Path, profile: UpdateProfile) -> None:
    """Write it, in one step."""
    write_json(path, {"format": FORMAT, **profile.to_json()})


def read_profile(path: Path) -> UpdateProfile | None:
    """The profile in a file, None where there is none; what no run has written is refused."""
    if not has_file(path):
        return None
    values = read_json(path)
    try:
        return _profile(dict(values))
    except (TypeError, ValueError, KeyError, DataError):
        raise DataError(f"{path} is not the profile of a run") from None


def _profile(values: dict[str, Any]) -> UpdateProfile:
    if values.pop("format") != FORMAT:
        raise ValueError("format")
    rows: dict[str, Any] = {name: values.pop(name) for name in ROWS}
    if any(len(listed) > MOST_ROWS for listed in rows.values()):
        raise ValueError("too many rows")
    listed: dict[str, Any] = {
        name: tuple(kind(**row) for row in rows[name]) for name, kind in ROWS.items()
    }
    profile = UpdateProfile(**values, **listed)
    check_fields(profile)
    divisors = (profile.seconds, profile.flops_per_second, profile.bytes_per_second)
    if not all(value > 0 for value in divisors):
        raise ValueError("not positive")
    amounts = [*vars(profile).values()]
    amounts += [held for row in listed.values() for one in row for held in vars(one).values()]
    if not all(0 <= value <= LARGEST for value in amounts if isinstance(value, int | float)):
        raise ValueError("out of range")
    return profile
