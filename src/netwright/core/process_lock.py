"""A file that one process holds at a time; the kernel lets go of it when the process ends.

So a killed owner never blocks the others, and whether a file is held tells whether its owner lives.
Windows, and file systems without locks, have none to give: there everybody may have it.
"""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

HAS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_held: set[int] = set()  # the open files of all locks that this process holds


class ProcessLock:
    """A lock on a file, taken and let go as often as one likes.

    Args:
        path: the file, made where it is not there; letting go does not remove it, since who has
            just opened it would then hold a file that nobody else sees. Only an owner whose lock
            nobody waits for may remove it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.handle = -1

    @property
    def is_held(self) -> bool:
        """Whether this process holds it; a forked child does not."""
        return self.handle in _held

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock; False where another process has it and nobody is to wait."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(handle, wait=wait)
        except BlockingIOError:
            os.close(handle)
            return False
        except BaseException:
            os.close(handle)
            raise
        self.handle = handle
        _held.add(handle)
        return True

    def release(self) -> None:
        """Let go; nothing happens where it is not held."""
        if self.is_held:
            _held.remove(self.handle)
            with suppress(OSError):
                os.close(self.handle)

    def __enter__(self) -> "ProcessLock":
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _lock(handle: int, *, wait: bool) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in HAS_NO_LOCKS:
            raise


def _let_go_in_child() -> None:
    """Close what a forked child, such as a data worker, inherits: it may outlive the owner."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go_in_child)
