"""One owner per folder: a lock that ends with its process.

Whose process number the file `.lock` holds does not matter: that is only for people to read.
"""

import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from netwright.core.errors import ConfigError, RunError
from netwright.core.files.json_text import json_value
from netwright.core.files.process_lock import ProcessLock, is_locked
from netwright.core.files.storage import read_bytes

LOCK = ".lock"
MOST = 1000  # bytes of it that are read


class FolderLock:
    """A block in which this process owns a folder; a second owner is refused, in any process.

    Windows, and file systems without locks, have none to give: there the block does nothing.

    Args:
        folder: a folder that is there; its file `.lock` is left behind empty. The folder is locked
            as well as the file, which anybody may delete.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = ProcessLock(folder / LOCK, guarding=folder)

    def __enter__(self) -> "FolderLock":
        if sys.platform == "win32":
            return self
        try:
            is_ours = self._lock.acquire(wait=False)
        except (FileNotFoundError, PermissionError) as error:
            raise ConfigError(f"{self.folder} cannot be locked: {error.strerror}") from None
        except OSError as error:
            raise RunError(f"{self.folder} cannot be locked: {error.strerror}") from None
        if not is_ours:
            raise RunError(
                f"{self.folder} is in use by {_owner(self._lock.path)}; "
                "wait for it to end, or give another folder"
            )
        owner = {"pid": os.getpid(), "host": os.uname().nodename}
        with suppress(OSError):  # a full disk: the lock holds without a word on its owner
            os.truncate(self._lock.handle, 0)
            os.pwrite(self._lock.handle, json.dumps(owner).encode(), 0)
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock.is_held:
            with suppress(OSError):
                os.truncate(self._lock.handle, 0)
            self._lock.release()


@dataclass(frozen=True)
class Owner:
    """The process that owns a folder, and the machine that it runs on."""

    pid: int
    host: str

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return sys.platform != "win32" and self.host == os.uname().nodename


def owner_of(folder: Path) -> Owner | None:
    """Who owns a folder now; None where nobody does, also where the owner was killed."""
    owner = _read_owner(folder / LOCK)
    if owner is None or (owner.is_here and not _lives(owner.pid)):
        return None
    return owner if is_locked(folder) else None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return True


def _read_owner(path: Path) -> Owner | None:
    """Who has written to the file; None where nothing of that kind is in it."""
    try:
        owner = json_value(read_bytes(path, most=MOST))
        pid, host = owner["pid"], owner["host"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_one = type(pid) is int and 1 < pid < 2**31 and isinstance(host, str)
    return Owner(pid, host) if is_one else None


def _owner(path: Path) -> str:
    """Who holds the lock; that is written right after it is taken, so wait a moment for it."""
    for _ in range(20):
        owner = _read_owner(path)
        if owner is not None:
            return f"process {owner.pid} on {owner.host}"
        time.sleep(0.005)
    return "another process"
