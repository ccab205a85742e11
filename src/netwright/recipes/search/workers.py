"""Which processes work on a study: each holds a lock as long as it lives, whatever ends it.

The locks are files of the search's folder, or, where trials are on a server, locks of that server:
machines that share no folder know of each other by it.
"""

import os
import re
import uuid
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from netwright.core.files.inside import has_file, open_folder
from netwright.core.files.process_lock import ProcessLock
from netwright.core.files.storage import make_folder

LOCKS = "locks"  # the folder that tells which processes are at work
NAME = re.compile(r"\d+-[0-9a-f]{8}")  # of a process, and of its lock


class Workers(Protocol):
    """Those that work on one study.

    Args:
        process: what this one is called.
    """

    process: str

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """A block in which no other hands out a trial, or takes one back."""
        ...

    def enter(self) -> None:
        """This process is at work from now on."""

    def leave(self) -> None:
        """It no longer is."""

    def lives(self, process: object) -> bool:
        """Whether a process is at work; what others may have written in its place is not."""
        ...


def new_process_name() -> str:
    """A name that no other process has."""
    return f"{os.getpid()}-{uuid.uuid4().hex[:8]}"


def study_lock(folder: Path) -> ProcessLock:
    """The lock of whoever hands out a trial, or takes one back."""
    return ProcessLock(folder / LOCKS / "study", inside=folder, guarding=folder)


class FolderWorkers:
    """Processes that share the folder of a search; see `Workers`.

    Args:
        folder: of the search.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._locks = folder, folder / LOCKS
        make_folder(self._locks)
        self.process, self._guard = new_process_name(), study_lock(folder)
        self._alive = self._lock_of(self.process)

    @property
    def guard(self) -> ProcessLock:
        """See `Workers`."""
        return self._guard

    def enter(self) -> None:
        """Take the lock of this process, and remove those that killed ones have left."""
        with self.guard:  # else another process might take the file for one of a dead process
            self._alive.acquire()
            self._remove_dead()

    def leave(self) -> None:
        """Let go of the lock of this process, and remove it."""
        with self.guard, suppress(OSError), open_folder(self._locks, self.folder) as locks:
            self._alive.release()
            locks.unlink(self.process)

    def lives(self, process: object) -> bool:
        """See `Workers.lives`."""
        if not isinstance(process, str) or not NAME.fullmatch(process):
            return False
        lock = self._lock_of(process)
        if not has_file(lock.path, self.folder):
            return False
        if not lock.acquire(wait=False):
            return True
        lock.release()
        return False

    def _remove_dead(self) -> None:
        with open_folder(self._locks, self.folder) as locks:
            for name in locks.names():
                is_other = NAME.fullmatch(name) and name != self.process
                if is_other and not self.lives(name):
                    with suppress(OSError):
                        locks.unlink(name)

    def _lock_of(self, process: str) -> ProcessLock:
        return ProcessLock(self._locks / process, inside=self.folder)
