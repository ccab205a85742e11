"""What others write (warnings, logs, tracebacks) reaches a terminal as visibly as what we write.

`core/terminal/console.py` makes visible what it prints and writes past the guard, as its own
colours are codes too; everything else in a process of the command comes through it.
"""

import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

from netwright.core.visible import visible


class GuardedStream:
    """A stream that makes visible what would steer a terminal; in all else it is the other one.

    Args:
        stream: takes the text.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def rich_proxied_file(self) -> TextIO:
        """Where rich writes, whose own codes draw colours and bars: it asks for this name."""
        return beneath(self._stream)

    def write(self, text: str, /) -> int:
        """Write the text, with its control characters seen."""
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str], /) -> None:
        """Write one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def beneath(stream: TextIO) -> TextIO:
    """The stream under a guard, or under rich's redirection of a live bar."""
    while (inner := getattr(stream, "rich_proxied_file", stream)) is not stream:
        stream = inner
    return stream


def guard_streams() -> None:
    """Guard this process's standard error, and its standard output where that is a terminal.

    Into files and pipes standard output stays exact. Descriptors that were closed when the process
    began lead nowhere, lest the next file that is opened takes their number and what is printed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = _guarded(sys.stdout)
    if sys.stderr is not None:
        sys.stderr = _guarded(sys.stderr)


def is_guarded(stream: TextIO | None) -> bool:
    """Whether what is written to it is made visible."""
    return isinstance(stream, GuardedStream)


def _guarded(stream: TextIO) -> TextIO:
    return stream if is_guarded(stream) else cast(TextIO, GuardedStream(stream))
