"""A hostile case: what lies in the folder, what a person types there, and how that must end."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

# refused: one sentence and exit code 1 or 2; harmless: as if nothing were wrong; either: of these.
End = Literal["refused", "harmless", "either"]


@dataclass(frozen=True)
class Place:
    """Where a case is set up.

    Args:
        top: holds all of the following, and nothing else.
        honest: what honest people left: runs, searches, data. Never written to.
    """

    top: Path
    honest: Path

    @property
    def work(self) -> Path:
        """What the stranger sent; commands are typed here, and may write here."""
        return self.top / "work"

    @property
    def outside(self) -> Path:
        """The canary: nobody may read, write or delete here."""
        return self.top / "outside"

    @property
    def home(self) -> Path:
        """The home folder, a canary too."""
        return self.top / "home"

    @property
    def cache(self) -> Path:
        """What netwright remembers from run to run: known files alone."""
        return self.top / "cache"

    @property
    def temporary(self) -> Path:
        """Where temporary files go; empty again at the end."""
        return self.top / "temporary"

    def copy(self, name: str, to: str = "run") -> Path:
        """A copy of something honest."""
        source, copy = self.honest / name, self.work / to
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copyfile(source, copy)
        return copy


@dataclass(frozen=True, kw_only=True)
class Case:
    """One hostile case.

    Args:
        kind: the row of the table that it counts in.
        name: what is wrong, in a few words; unique.
        make: sets it up.
        commands: what is typed, one after the other, without `netwright`.
        end: how each of the commands must end.
        environment: variables that are set for the commands.
        fresh: start a new Python for it instead of forking one that has imported everything.
    """

    kind: str
    name: str
    make: Callable[[Place], None]
    commands: tuple[str, ...]
    end: End = "refused"
    environment: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = False

    def typed(self) -> list[list[str]]:
        """The arguments of each command."""
        return [shlex.split(command) for command in self.commands]
