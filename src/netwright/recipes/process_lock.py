"""A file that one process holds at a time; the kernel lets go of it when the process ends.

So a killed owner never blocks the others, and whether a file is held tells whether its owner lives.
Windows has no such locks: there a study is for one process at a time.
"""

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_held: set[int] = set()  # the open files of all locks that this process holds


class ProcessLock:
    """A lock on a file, taken and let go as often as one likes.

    Args:
        path: the file, made where it is not there; it is never removed, since who has just opened
            it would then hold a file that nobody else sees.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock; False where another process has it and nobody is to wait."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        if sys.platform != "win32":
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BaseException as error:
                os.close(handle)
                if isinstance(error, BlockingIOError):
                    return False
                raise
        self._handle = handle
        _held.add(handle)
        return True

    def release(self) -> None:
        """Let go; nothing happens where it is not held, as in a forked child."""
        if self._handle in _held:
            _held.remove(self._handle)
            os.close(self._handle)

    def __enter__(self) -> "ProcessLock":
        self.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _let_go_in_child() -> None:
    """Close what a forked child, such as a data worker, inherits: it may outlive the owner."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go_in_child)
