"""A tracker writes a run as another package reads it: its settings, its rows, what came out.

It writes into a folder of the run and nowhere else; nothing leaves the machine.
"""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from netwright.core.errors import ConfigError

Plain = bool | int | float | str
FINAL = "final"  # what the measures of the finished run stand under: final/accuracy


class Measured(Protocol):
    """What a tracker reads of a row of the history: it knows no other part of training."""

    @property
    def key(self) -> str:
        """Split and name: "val/loss"."""

    @property
    def value(self) -> float:
        """A finite number."""

    @property
    def step(self) -> int:
        """Updates so far; they never become fewer from row to row."""

    @property
    def epoch(self) -> int:
        """Passes so far."""

    @property
    def time(self) -> float:
        """Seconds of training so far."""


@dataclass(frozen=True, kw_only=True)
class TrackedRun:
    """What is known of a run before its first step.

    Args:
        id: letters and digits; it stays the same when the run is resumed.
        name: of its folder.
        settings: of its recipe, each by its whole name: "train.lr".
        started: the wall time at which its clock stood at 0, in seconds; it goes on after a resume
            as if there had been no break.
    """

    id: str
    name: str
    settings: Mapping[str, Plain]
    started: float


class Tracker(ABC):
    """The abstract kind; it is built with an empty folder and the run, and then told its rows."""

    package: ClassVar[str]  # what has to be installed

    @abstractmethod
    def __init__(self, folder: Path, run: TrackedRun) -> None: ...

    @abstractmethod
    def write(self, rows: Sequence[Measured]) -> None:
        """Add rows, in the order in which they were measured."""

    @abstractmethod
    def finish(self, metrics: Mapping[str, float], step: int) -> None:
        """Add the measures of the finished run, by `final/NAME`; no rows come after it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open; also where the run was not finished."""


def check_installed(name: str, kind: type[Tracker]) -> None:
    """Refuse a tracker whose package is not there, before anything is trained."""
    if importlib.util.find_spec(kind.package) is None:
        raise ConfigError(
            f"track {name!r} needs the package {kind.package}: pip install 'netwright[track]'"
        )


def flat_settings(values: Mapping[str, Any], place: str = "") -> dict[str, Plain]:
    """Nested settings by whole names, {"train": {"lr": 0.1}} -> {"train.lr": 0.1}.

    What is no plain value is written as text, a list with commas, and what is not set is left out.
    """
    flat: dict[str, Plain] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= flat_settings(value, f"{place}{name}.")
        elif isinstance(value, list | tuple):
            flat[place + name] = ", ".join(map(str, value))
        elif value is not None:
            flat[place + name] = value if isinstance(value, Plain) else str(value)
    return flat
