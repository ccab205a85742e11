"""Silence for pillow's warnings while it reads files.

Pillow warns of damaged notes in a photo and of very large images. Whoever decodes decides what to
make of a file, and says so in a sentence of its own.

Python's `catch_warnings` puts back what it found, so that of two threads the one that leaves last
may put back the silence of the other. Here the first one in sets it and the last one out lifts it.
"""

import threading
import warnings


class QuietPillow:
    """Use it as `with QUIET:`, in any number of threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._caught = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._caught = warnings.catch_warnings()
                self._caught.__enter__()
                warnings.filterwarnings("ignore", module=r"PIL\.")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._caught.__exit__(None, None, None)


QUIET = QuietPillow()
