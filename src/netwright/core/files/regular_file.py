"""Files that a user, or a recipe, names: opened where they are regular ones, and never waited for.

A path may lead to a pipe, which blocks until somebody writes, or to a device, which has no end.
Links are followed here; inside a folder that comes from elsewhere none are.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from netwright.core.errors import DataError

# Without O_NONBLOCK, opening a pipe waits; Windows has neither of the two.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WAITING = {stat.S_IFIFO, stat.S_IFSOCK}


def open_regular(path: str | Path) -> BinaryIO:
    """A regular file, open to be read; another kind is refused, what is not there is an OSError."""
    check_regular(path)  # before it is opened, which some devices take for an order
    handle = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_regular(path: str | Path) -> None:
    """Refuse what is there and is neither a regular file nor a folder."""
    _check(path, os.stat(path))


def _check(path: str | Path, status: os.stat_result) -> None:
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        kind = "pipe or socket" if stat.S_IFMT(status.st_mode) in _WAITING else "device"
        raise DataError(f"{path} is a {kind}, wanted a regular file")
