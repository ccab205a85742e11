"""The one place that prints: data to standard output, everything else to standard error.

On a terminal progress is a live bar; elsewhere it is plain lines. `NO_COLOR` is honoured by rich.
"""

import io
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

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

REDRAW = 0.25  # seconds between two drawings of a bar


def _console(*, stderr: bool = True, soft_wrap: bool = True, width: int | None = None) -> Console:
    """A console that shows text as it is: "[red]" and ":100:" mean nothing."""
    return Console(
        stderr=stderr,
        soft_wrap=soft_wrap,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
    )


def say(text: str) -> None:
    """One plain line for the person who watches, on standard error."""
    _console().print(text)


def warn(text: str) -> None:
    """A line that the person should not miss."""
    _console().print(Text.assemble(("note:", "yellow"), " ", text))


def complain(text: str) -> None:
    """The one sentence of a refusal."""
    _console().print(Text.assemble(("error:", "red"), " ", text))


def give(text: str) -> None:
    """Data, on standard output, exactly as it is; what its encoding lacks is escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def give_json(value: Any) -> None:
    """One JSON value on standard output."""
    give(json.dumps(value, indent=2, allow_nan=False))


def give_table(rows: Sequence[Mapping[str, str]], *, title: str = "", stderr: bool = False) -> None:
    """A table of text; the keys of the first row are its columns."""
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    columns = list(rows[0]) if rows else []
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "default")
    for row in rows:
        table.add_row(*(row.get(column, "") for column in columns))
    console = _console(stderr=stderr, soft_wrap=False)
    if not console.is_terminal:
        console = _console(stderr=stderr, soft_wrap=False, width=200)
    console.print(table)


class Bar:
    """Progress over steps: a live bar on a terminal, one line an epoch elsewhere.

    Args:
        total: the number of steps; None where nobody knows it.
        text: what is under way, until the first move says more.
        quiet: show nothing at all.
    """

    def __init__(self, total: int | None, *, text: str = "training", quiet: bool = False) -> None:
        self._console = _console()
        self._quiet = quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._next_drawing = 0.0
        if self._console.is_terminal and not quiet:
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
                auto_refresh=False,  # drawn when it moves: a thread that draws costs as much CPU
            )
            self._task = self._progress.add_task(text, total=total)
            self._progress.start()

    @property
    def is_live(self) -> bool:
        """Whether there is a bar: on a terminal."""
        return self._progress is not None

    @property
    def is_due(self) -> bool:
        """Whether there is a bar, and a move would be drawn."""
        return self._progress is not None and time.monotonic() >= self._next_drawing

    def move(self, step: int, text: str) -> None:
        """Set the bar to a step, a few times a second; without a terminal this prints nothing."""
        if self._progress is not None and self._task is not None and self.is_due:
            self._next_drawing = time.monotonic() + REDRAW
            self._progress.update(self._task, completed=step, description=text, refresh=True)

    def line(self, text: str) -> None:
        """Leave one line, above the bar."""
        if not self._quiet:
            (self._progress.console if self._progress else self._console).print(text)

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
