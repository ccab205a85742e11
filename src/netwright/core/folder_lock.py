"""One owner per folder: a lock that ends with its process.

The kernel holds the lock (flock on `.lock`): a killed owner never blocks the next one, and whose
process number the file holds does not matter, since that is only for people to read.
"""

import errno
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from netwright.core.errors import ConfigError, RunError

if sys.platform != "win32":
    import fcntl

LOCK = ".lock"
HAS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_held: set[int] = set()  # the open files of all locks that this process holds


class FolderLock:
    """A block in which this process owns a folder; a second owner is refused, in any process.

    Windows, and file systems without locks, have none to give: there the block does nothing.

    Args:
        folder: a folder that is there; its file `.lock` is left behind empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle = -1

    def __enter__(self) -> "FolderLock":
        if sys.platform == "win32":
            return self
        try:
            handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise ConfigError(f"{self.folder} cannot be locked: {error.strerror}") from None
        try:
            self._take(handle)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        _held.add(handle)
        return self

    def _take(self, handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"{self.folder} is in use by {_owner(handle)}; "
                "wait for it to end, or give another folder"
            ) from None
        except OSError as error:
            if error.errno not in HAS_NO_LOCKS:
                raise RunError(f"{self.folder} cannot be locked: {error.strerror}") from None
        owner = {"pid": os.getpid(), "host": os.uname().nodename}
        with suppress(OSError):  # a full disk: the lock holds without a word on its owner
            os.truncate(handle, 0)
            os.pwrite(handle, json.dumps(owner).encode(), 0)

    def __exit__(self, *error: object) -> None:
        if self._handle not in _held:  # nothing was locked, or this is a forked child
            return
        _held.remove(self._handle)
        with suppress(OSError):
            # Not removed: who has just opened it would then lock a file that nobody else sees.
            os.truncate(self._handle, 0)
        with suppress(OSError):
            os.close(self._handle)


def _owner(handle: int) -> str:
    """Who holds the lock; that is written right after it is taken, so wait a moment for it."""
    for _ in range(20):
        try:
            owner = json.loads(os.pread(handle, 1000, 0))
            return f"process {owner['pid']} on {owner['host']}"
        except (OSError, ValueError, TypeError, KeyError):
            time.sleep(0.005)
    return "another process"


def _let_go_in_child() -> None:
    """Close what a forked child, such as a data worker, inherits: it may outlive the owner."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go_in_child)
