"""Memory for the images that are decoded at one time, whatever the number of threads.

A PNG of half a megabyte may hold 134 million pixels, and eight threads decode as many images at
once. Each says from its head how much it will take, and the large ones wait for each other.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from netwright.core.limits import DECODING


class DecodingRoom:
    """Use it as `with ROOM.hold(bytes):`, in any number of threads at once."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = 0

    @contextmanager
    def hold(self, needed: int) -> Iterator[None]:
        """Wait until there is room for so many bytes; what never has room is refused."""
        room = DECODING.value * 1e9
        DECODING.check("it", needed / 1e9, "takes")
        with self._changed:
            self._changed.wait_for(lambda: self._held + needed <= room)
            self._held += needed
        try:
            yield
        finally:
            with self._changed:
                self._held -= needed
                self._changed.notify_all()


ROOM = DecodingRoom()
