"""The one place that prints: data to standard output, everything else to standard error.

On a terminal progress is a live bar; elsewhere it is plain lines. `NO_COLOR` is honoured by rich.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table


def say(text: str) -> None:
    """One plain line for the person who watches, on standard error."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(escape(text))


def warn(text: str) -> None:
    """A line that the person should not miss."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]note:[/] {escape(text)}")


def complain(text: str) -> None:
    """The one sentence of a refusal."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error:[/] {escape(text)}")


def give(text: str) -> None:
    """Data, on standard output, exactly as it is."""
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
        table.add_column(escape(column), justify="left" if index == 0 else "default")
    for row in rows:
        table.add_row(*(escape(row.get(column, "")) for column in columns))
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=stderr, highlight=False, width=200)
    console.print(table)


class Bar:
    """Progress over steps: a live bar on a terminal, one line an epoch elsewhere.

    Args:
        total: the number of steps.
        quiet: show nothing at all.
    """

    def __init__(self, total: int | None, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        if self._console.is_terminal and not quiet:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=30),
                TextColumn("{task.completed:.0f}/{task.total:.0f}"),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._progress.add_task("training", total=total)
            self._progress.start()

    @property
    def live(self) -> bool:
        """Whether there is a bar that moves."""
        return self._progress is not None

    def move(self, step: int, text: str) -> None:
        """Set the bar to a step; without a terminal this prints nothing."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=step, description=escape(text))

    def line(self, text: str) -> None:
        """Leave one line, above the bar."""
        if not self._quiet:
            (self._progress.console if self._progress else self._console).print(escape(text))

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
