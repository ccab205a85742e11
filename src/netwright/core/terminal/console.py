"""The one place that prints: data to standard output, everything else to standard error.

On a terminal progress is a live bar, in a notebook a live block; elsewhere it is plain lines.
`NO_COLOR` is honoured by rich. Text is printed as it is but for characters that would steer a
terminal (`netwright.core.visible`): nothing printed is ever taken for markup or for a code.
"""

import io
import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from netwright.core.errors import OutputError
from netwright.core.terminal.guarded_streams import (
    GuardedStream,
    beneath,
    guard_streams,
    is_guarded,
)
from netwright.core.terminal.notebook_block import NotebookBlock, notebook_display
from netwright.core.visible import visible, visible_line

REDRAW = 0.25  # seconds between two drawings of a bar
MOST_OF_TIME = 1 / 200  # the share that drawing may take: on a slow terminal it is drawn less often
TABLE_WIDTH = 200  # characters, where nobody watches


class _Unfailing(GuardedStream):
    """Standard error, for text that is visible already; where nobody can read it, it is lost.

    A training of a day does not end because the reader of its progress has.
    """

    @property
    def rich_proxied_file(self) -> TextIO:
        """Itself: it is what rich is to write to."""
        return cast(TextIO, self)

    def write(self, text: str, /) -> int:
        """Write the text if that can be done."""
        with suppress(OSError, ValueError):  # its reader is gone, its disk full, it is closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Pass on what is buffered, if that can be done."""
        with suppress(OSError, ValueError):
            self._stream.flush()


class _Drawing(io.StringIO):
    """What is drawn for standard output, before it is written there."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of standard output: rich draws with the letters that it has."""
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether it is drawn for a terminal."""
        return _is_watched()


def _is_watched() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _console(drawing: _Drawing | None = None, *, soft_wrap: bool = True) -> Console:
    """A console for standard error, or a drawing; "[red]" and ":100:" mean nothing to it."""
    file: Any = drawing
    if drawing is None and sys.stderr is not None:
        file = _Unfailing(beneath(sys.stderr))
    return Console(
        file=file,
        stderr=True,
        soft_wrap=soft_wrap,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_message(text: str) -> None:
    """One plain line for the person who watches, on standard error."""
    _console().print(visible_line(text))


def print_warning(text: str) -> None:
    """A line that the person should not miss."""
    _console().print(Text.assemble(("note:", "yellow"), " ", visible_line(text)))


def print_error(text: str) -> None:
    """The one sentence of a refusal."""
    _console().print(Text.assemble(("error:", "red"), " ", visible_line(text)))


def print_result(text: str) -> None:
    """What was asked for, in words, on standard output; it ends with one line end."""
    _put(visible(text), end="\n")


def print_data(text: str, *, end: str = "\n") -> None:
    """Data on standard output: as it is into files and pipes, visible on a terminal.

    Args:
        text: what its encoding lacks is escaped.
        end: what it ends with, once.
    """
    _put(visible(text) if _is_watched() else text, end=end)


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    _put(json_text(value), end="\n")


def json_text(value: Any) -> str:
    """JSON in ASCII that holds no control characters but line ends, and reads back as the same."""
    return json.dumps(value, indent=2, allow_nan=False).replace("\x7f", "\\u007f")


def print_table(
    rows: Sequence[Mapping[str, str]], *, title: str = "", stderr: bool = False
) -> None:
    """A table of text; the keys of the first row are its columns."""
    table = Table(title=visible_line(title) or None, title_justify="left", box=None, pad_edge=False)
    columns = list(rows[0]) if rows else []
    for column in columns:
        table.add_column(visible_line(column))
    for row in rows:
        table.add_row(*(visible_line(row.get(column, "")) for column in columns))
    drawing = None if stderr else _Drawing()
    console = _console(drawing, soft_wrap=False)
    if not console.is_terminal:
        console.width = TABLE_WIDTH
    console.print(table)
    if drawing is not None:
        _put(drawing.getvalue(), end="\n")


def _put(text: str, *, end: str) -> None:
    """Write to standard output what may be written there; whoever cannot be served is told."""
    if sys.stdout is None:
        raise OutputError("standard output is closed, so nothing can be written to it")
    stream = beneath(sys.stdout)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    try:
        stream.write(text.removesuffix(end) + end)
        stream.flush()
    except BrokenPipeError:  # `netwright list models | head`, which has what it wanted
        raise SystemExit(0) from None
    except OSError as error:
        raise OutputError(f"standard output cannot be written to: {error.strerror}") from None


class Bar:
    """Progress over steps: a live bar on a terminal or in a notebook, one line an epoch elsewhere.

    Args:
        total: the number of steps; None where nobody knows it.
        text: what is under way, until the first move says more.
        quiet: show nothing at all.
        after: seconds until it is shown, with the first move from then on.
    """

    def __init__(
        self,
        total: int | None,
        *,
        text: str = "training",
        quiet: bool = False,
        after: float = 0.0,
    ) -> None:
        self._console = _console()
        self._quiet = quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._next_drawing = time.monotonic() + after if after else 0.0
        self._is_shown = False
        display = None if quiet else notebook_display()
        self._block = None if display is None else NotebookBlock(display, total, text)
        if self._block is None and self._console.is_terminal and not quiet:
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
                auto_refresh=False,  # drawn when it moves: a thread that draws costs as much CPU
            )
            self._task = self._progress.add_task(visible_line(text), total=total)
            if not after:
                self._show(self._progress)

    def _show(self, progress: Progress) -> None:
        """Draw the bar for the first time."""
        self._is_shown = True
        was_guarded = is_guarded(sys.stderr)
        progress.start()
        if was_guarded:  # rich has put itself before the guards, to print above the bar
            guard_streams()

    @property
    def is_live(self) -> bool:
        """Whether there is a bar: on a terminal, or in a notebook."""
        return self._progress is not None or self._block is not None

    @property
    def is_due(self) -> bool:
        """Whether there is a bar, and a move would be drawn."""
        return self.is_live and time.monotonic() >= self._next_drawing

    def move(self, step: int, text: str) -> None:
        """Set the bar to a step, a few times a second; where there is none this prints nothing."""
        if not self.is_due:
            return
        started = time.monotonic()
        if self._block is not None:
            self._block.step, self._block.text = step, text
            self._block.draw()
        elif self._progress is not None and self._task is not None:
            if not self._is_shown:
                self._show(self._progress)
            self._progress.update(
                self._task, completed=step, description=visible_line(text), refresh=True
            )
        self._rest(started)

    def line(self, text: str) -> None:
        """Leave one line, above the bar; in a notebook it is seen with the next drawing."""
        if self._block is not None:
            self._block.lines.append(text)
            if self.is_due or not self._block.is_open:
                started = time.monotonic()
                self._block.draw()
                self._rest(started)
        elif not self._quiet:
            (self._progress.console if self._progress else self._console).print(visible_line(text))

    def _rest(self, started: float) -> None:
        """Let the next drawing wait, the longer the longer this one took."""
        now = time.monotonic()
        self._next_drawing = now + max(REDRAW, (now - started) / MOST_OF_TIME)

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None and self._is_shown:
            self._progress.stop()
        if self._block is not None:
            self._block.close()
