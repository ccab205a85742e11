"""A bar of the megabytes that are read of a large file, from two seconds on."""

import io
from collections.abc import Generator
from contextlib import closing

from netwright.core.terminal.console import Bar

MEGABYTE = 10**6
LATE = 2.0  # seconds: who waits less needs no bar


class ReadingBar(Bar):
    """The bar of one file.

    Args:
        name: what the file is called.
        size: how many bytes or letters it has.
    """

    def __init__(self, name: str, size: int) -> None:
        self.told = f"reading {name}, MB"
        super().__init__(size // MEGABYTE, text=self.told, after=LATE)

    def reach(self, place: int) -> None:
        """So many bytes or letters are behind."""
        self.move(place // MEGABYTE, self.told)


def watched_lines(name: str, text: str) -> Generator[str, None, None]:
    """The lines of a text, each with its end."""
    read = 0
    with closing(ReadingBar(name, len(text))) as bar:
        for line in io.StringIO(text):
            read += len(line)
            bar.reach(read)
            yield line


class WatchedBytes(io.BytesIO):
    """Bytes from a place on, as a file that is read in pieces.

    Args:
        content: all of them, which are not copied.
        start: where reading begins.
        bar: that is moved.
    """

    def __init__(self, content: bytes, start: int, bar: ReadingBar) -> None:
        super().__init__(content)
        self.seek(start)
        self._bar = bar

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        self._bar.reach(self.tell())
        return super().read(size)
