"""Descriptors of many files, of which the least used are closed: for several threads and forks.

Files are read by position, so that nobody moves the place of another who reads the same file.
"""

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_OPEN = 128  # files: a process may usually have 1,024

K = TypeVar("K", bound=Hashable)


class Handle:
    """A descriptor that is closed with the last who holds it."""

    def __init__(self, number: int) -> None:
        self.number = number
        weakref.finalize(self, os.close, number)

    def __enter__(self) -> int:
        return self.number

    def __exit__(self, *error: object) -> None:
        """It stays open for the next reading."""


class OpenFiles(Generic[K]):
    """The descriptors.

    Args:
        opened: what a file is known by -> a new descriptor of it.
        are_copies: files that were removed are closed when another is opened, since they take room
            as long as they are open; `opened` gives them again.
    """

    def __init__(self, opened: Callable[[K], int], *, are_copies: bool = False) -> None:
        self.opened, self.are_copies = opened, are_copies
        self.open: OrderedDict[K, Handle] = OrderedDict()
        self._in_use: weakref.WeakValueDictionary[K, Handle] = weakref.WeakValueDictionary()
        self.lock = threading.Lock()

    def using(self, key: K) -> Handle:
        """The descriptor of a file, which stays open while it is used."""
        with self.lock:
            handle = self._in_use.get(key)  # of those that were let go, too
        if handle is None:  # without the lock: to fetch a file may take minutes
            handle = Handle(self.opened(key))
            self._close_removed()
        with self.lock:
            self.open[key] = self._in_use[key] = handle
            self.open.move_to_end(key)
            if len(self.open) > MOST_OPEN:
                self.open.popitem(last=False)  # closed when nobody uses it any more
        return handle

    def _close_removed(self) -> None:
        """Let go of copies that are no longer in their folder."""
        with self.lock:
            if self.are_copies:
                for key, handle in list(self.open.items()):
                    if not os.fstat(handle.number).st_nlink:
                        del self.open[key]  # closed when nobody uses it any more


def read_into(handle: int, target: memoryview, offset: int) -> int:
    """Fill the target from this byte of a file on; gives how many bytes were there."""
    filled = 0
    while filled < len(target):
        count = os.preadv(handle, [target[filled:]], offset + filled)
        if not count:
            break
        filled += count
    return filled
