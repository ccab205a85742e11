"""Room for converted tables, and copies of remote ones, in the cache: the longest unused goes.

A table that was opened within the last day may be trained on, and stays, as does one that another
process converts or opens at this moment. What is removed is converted again when it is asked for.
"""

import contextlib
import os
import re
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from netwright.core.files.process_lock import ProcessLock

DAY = 86_400  # seconds
_NAME = re.compile("[0-9a-f]{16}")
_REMOVED = ".removed"  # after the name of a table that is being removed


class KeptTable(NamedTuple):
    """A converted table: its folder, its bytes, and when it was opened last."""

    folder: Path
    size: int
    used: float


def mark_used(folder: Path) -> None:
    """Say that a converted table is opened now."""
    with contextlib.suppress(OSError):  # a cache of somebody else, which is only read
        os.utime(folder)


def lock_of(folder: Path) -> ProcessLock:
    """Who converts, opens or removes a table holds it."""
    return ProcessLock(folder.with_name(f"{folder.name}.lock"))


def kept_tables(cache: Path) -> list[KeptTable]:
    """All converted tables, the longest unused first."""
    found = []
    for entry in os.scandir(cache):
        if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(FileNotFoundError):  # another process removes it
                files = [
                    os.lstat(os.path.join(place, name))
                    for place, _, names in os.walk(entry.path)
                    for name in names
                ]
                used = entry.stat(follow_symlinks=False).st_mtime
                found.append(KeptTable(Path(entry.path), sum(one.st_size for one in files), used))
    return sorted(found, key=lambda table: (table.used, table.folder))


def make_room(cache: Path, needs: int, most: float) -> tuple[str, ...]:
    """Remove tables until so many bytes more stay within the most; gives their names.

    Args:
        cache: the folder of converted tables.
        needs: the bytes of the one that is to come.
        most: the bytes of all.
    """
    _remove_leftovers(cache)
    tables = kept_tables(cache)
    total, removed = needs + sum(table.size for table in tables), list[str]()
    for table in tables:
        if total <= most or time.time() - table.used < DAY:
            break
        if _remove(table.folder):
            total -= table.size
            removed.append(table.folder.name)
    return tuple(removed)


def _remove(folder: Path) -> bool:
    """Whether a table is gone now; one that is held, or was opened since it was found, stays.

    It loses its name in one step, so that an end in between leaves no half of a table behind.
    """
    lock = lock_of(folder)
    try:
        if not lock.acquire(wait=False) or time.time() - folder.stat().st_mtime < DAY:
            return False
        if not os.access(folder, os.W_OK):  # of somebody else: it stays, and counts
            return False
        shutil.rmtree(folder.rename(folder.with_name(folder.name + _REMOVED)))
    except FileNotFoundError:  # another process was first
        return True
    except OSError:
        return False
    finally:
        lock.release()
    return True


def _remove_leftovers(cache: Path) -> None:
    """Remove what a process that ended meanwhile was about to remove."""
    for entry in os.scandir(cache):
        if entry.name.endswith(_REMOVED) and _NAME.fullmatch(entry.name.removesuffix(_REMOVED)):
            shutil.rmtree(entry.path, ignore_errors=True)
