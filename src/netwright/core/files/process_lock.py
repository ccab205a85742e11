"""A file that one process holds at a time; the kernel lets go of it when the process ends.

So a killed owner never blocks the others, and whether a file is held tells whether its owner lives.
Windows, and file systems without locks, have none to give: there everybody may have it.
"""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

from netwright.core.errors import DataError
from netwright.core.files.inside import open_folder, parent_of

if sys.platform != "win32":
    import fcntl

# EBADF: where locks are made over the network, only what is open for writing has one, no folder.
HAS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF}

_held: set[int] = set()  # the open files of all locks that this process holds


class ProcessLock:
    """A lock on a file, taken and let go as often as one likes.

    Args:
        path: the file, made where it is not there; letting go does not remove it. Where it was
            removed while somebody waited for it, the lock is that of the file which is there now.
        inside: the folder that the user named, where the file's own is not that: no link below it
            is followed.
        guarding: a folder that is locked too, so that removing the file of a living owner lets
            nobody in.
    """

    def __init__(
        self, path: Path, *, inside: Path | None = None, guarding: Path | None = None
    ) -> None:
        self.path, self.inside, self.guarding = path, inside, guarding
        self.handle = self._folder = -1

    @property
    def is_held(self) -> bool:
        """Whether this process holds it; a forked child does not."""
        return self.handle in _held

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock; False where another process has it and nobody is to wait."""
        folder = -1
        try:
            folder = self._take_folder(wait=wait)
            handle = self._take_file(wait=wait)
        except BaseException as error:
            _close(folder)
            if isinstance(error, BlockingIOError):
                return False
            raise
        self.handle, self._folder = handle, folder
        _held.update({handle, folder} - {-1})
        return True

    def _take_folder(self, *, wait: bool) -> int:
        """A locked descriptor of the folder that is guarded; -1 where there is none to lock."""
        if self.guarding is None:
            return -1
        with open_folder(self.guarding, self.inside) as folder:
            handle = folder.handle  # 0 where a process has no standard input
            return -1 if handle is None else _locked(os.dup(handle), wait=wait)

    def _take_file(self, *, wait: bool) -> int:
        with parent_of(self.path, self.inside) as parent:
            while True:
                handle = _locked(parent.open(self.path.name, os.O_RDWR | os.O_CREAT), wait=wait)
                try:
                    if os.path.samestat(os.fstat(handle), parent.status(self.path.name)):
                        return handle
                except FileNotFoundError:
                    pass
                except BaseException:
                    _close(handle)
                    raise
                _close(handle)

    def release(self) -> None:
        """Let go; nothing happens where it is not held."""
        if self.is_held:
            _held.difference_update({self.handle, self._folder})
            _close(self.handle)
            _close(self._folder)

    def __enter__(self) -> "ProcessLock":
        try:
            self.acquire()
        except OSError as error:  # a folder in its place, or one that cannot be written to
            raise DataError(f"{self.path} cannot be locked: {error.strerror}") from None
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def is_locked(folder: Path) -> bool:
    """Whether a process holds this folder; where there are no locks, nobody is known not to."""
    with open_folder(folder) as here:
        if sys.platform == "win32" or here.handle is None:
            return True
        try:  # a lock that others may have too: it is let go with the folder
            fcntl.flock(here.handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def _locked(handle: int, *, wait: bool) -> int:
    """The descriptor, with its lock; closed where there is none to have."""
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in HAS_NO_LOCKS:
            _close(handle)
            raise
    except BaseException:
        _close(handle)
        raise
    return handle


def _close(handle: int) -> None:
    with suppress(OSError):
        os.close(handle)


def _let_go_in_child() -> None:
    """Close what a forked child, such as a data worker, inherits: it may outlive the owner."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go_in_child)
