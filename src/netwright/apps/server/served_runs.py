"""The runs that a server answers for, by name; a folder that changes is read again.

A run that is being asked stays as it is until its requests are answered: what was encoded by one
model's preprocessor is never passed to another model.
"""

import os
import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from netwright.apps.server.measurements import Measurements
from netwright.apps.server.refusal import RefusalError
from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.memory_shortage import is_shortage, shortage_sentence
from netwright.core.terminal.console import print_message, print_warning
from netwright.recipes.run.resting_run import resting
from netwright.recipes.run.run import Run, open_run

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Stamp(NamedTuple):
    """By which it is seen that the file of sums, written last, is another one."""

    device: int
    inode: int
    size: int
    changed: int


class ServedRun:
    """One run.

    Args:
        name: by which it is asked for.
        folder: what `netwright train` left.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.stamp = self._look()
        self.run: Run = resting(open_run(folder))
        self.trouble = ""  # why the folder as it is now cannot be served

    def refresh(self) -> bool | None:
        """Read the folder again if it has changed: whether that could be done; None: nothing new.

        What cannot be read leaves the run as it was, and is tried again: a copy may be under way.
        """
        stamp, before = self._look(), self.trouble
        if stamp == self.stamp:
            self.trouble = ""
            return None
        try:
            self.run, self.trouble, self.stamp = resting(open_run(self.folder)), "", stamp
        except NetwrightError as error:
            self.trouble = str(error)
        except (OSError, MemoryError, RuntimeError) as error:
            said = shortage_sentence(error) if is_shortage(error) else str(error)
            self.trouble = f"{self.folder} cannot be read: {said}"
        return None if self.trouble and self.trouble == before else not self.trouble

    @property
    def problem(self) -> str:
        """The trouble as clients are told: where the folder lies is not for them."""
        told = self.trouble
        for path in map(str, (self.folder.resolve(), self.folder.absolute(), self.folder)):
            if os.sep in path:  # a name alone may be a word of the sentence
                told = re.sub(rf"(?<![\w./-]){re.escape(path)}(?![\w-])", self.name, told)
        return told

    def _look(self) -> Stamp | None:
        """The stamp of what is there now; None: nothing."""
        try:
            found = os.stat(self.folder / "model" / "manifest.json", follow_symlinks=False)
        except OSError:
            return None
        return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class ServedRuns:
    """All of them.

    Args:
        folders: name -> the folder of the run.
        measurements: where reloads are counted.
    """

    def __init__(self, folders: dict[str, Path], measurements: Measurements) -> None:
        self._runs = {name: ServedRun(name, folder) for name, folder in folders.items()}
        self._measurements = measurements

    def __iter__(self) -> Iterator[ServedRun]:
        return iter(self._runs.values())

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, name: str) -> ServedRun:
        """The run of this name; any other is refused with the nearest one."""
        if name not in self._runs:
            hint = nearest(name, self._runs) or f"; there are {', '.join(self._runs)}"
            raise RefusalError(HTTPStatus.NOT_FOUND, f"there is no run {name[:100]!r}{hint}")
        return self._runs[name]

    def refresh(self) -> None:
        """Read again what has changed, and say so."""
        for served in self:
            done = served.refresh()
            if done is None:
                continue
            outcome = "loaded" if done else "refused"
            self._measurements.count("netwright_reloads_total", run=served.name, outcome=outcome)
            if done:
                print_message(f"{served.name} has changed and was loaded again")
            else:
                print_warning(f"{served.name} stays as it was: {served.trouble}")


def named_folders(given: Iterable[str]) -> dict[str, Path]:
    """Folders as they are typed, FOLDER or NAME=FOLDER, by name."""
    folders: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.partition("=")
        if not equals or os.path.isdir(text):
            name, folder = Path(text).resolve().name, text
        if not NAME.fullmatch(name):
            raise ConfigError(
                f"the name of a run must be letters, digits, '.', '_' and '-', got {name!r}; "
                "give it one by NAME=FOLDER"
            )
        if name in folders:
            raise ConfigError(f"two runs are called {name}: give one another name by NAME=FOLDER")
        folders[name] = Path(folder)
    return folders
