"""Progress in a notebook: one block below the cell that is drawn again in its place.

It holds a bar with what is under way, and below it the lines so far, the newest in sight. Nothing
is imported for it: where nobody has started IPython, there is no notebook.
"""

import html
import importlib
import sys
from collections.abc import Callable
from typing import Any

from netwright.core.visible import visible_line

MOST_LINES = 200  # that a block shows; a long run has more
SCROLLED = "max-height: 24em; overflow: auto; display: flex; flex-direction: column-reverse"


def notebook_display() -> Callable[..., Any] | None:
    """IPython's `display`, where a notebook has started this process; otherwise None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if not hasattr(shell, "kernel"):  # a shell in a terminal has none
        return None
    display: Callable[..., Any] = importlib.import_module("IPython.display").display
    return display


class NotebookBlock:
    """What is under way, and what was said of it.

    Args:
        display: IPython's.
        total: the number of steps; None where nobody knows it.
        text: what is under way, until the first move says more.
    """

    def __init__(self, display: Callable[..., Any], total: int | None, text: str) -> None:
        self.total, self.step, self.text = total, 0, text
        self.lines: list[str] = []
        self.is_open = True
        self._handle = display(self._content(), raw=True, display_id=True)

    def draw(self) -> None:
        """Draw it again, where it stands."""
        self._handle.update(self._content(), raw=True)

    def close(self) -> None:
        """Take the bar away; the lines stay."""
        self.is_open = False
        self.draw()

    def _content(self) -> dict[str, str]:
        """The block in the forms that notebooks choose from."""
        left_out = len(self.lines) - MOST_LINES
        lines = [f"... {left_out} earlier lines"] if left_out > 0 else []
        lines += map(visible_line, self.lines[-MOST_LINES:])
        bar = self._bar() if self.is_open else ""
        words = "\n".join(lines)
        written = f"<div style='{SCROLLED}'><pre>{html.escape(words)}</pre></div>" if lines else ""
        plain = [*lines, visible_line(self.text)] if self.is_open else lines
        return {"text/html": f"<div>{bar}{written}</div>", "text/plain": "\n".join(plain)}

    def _bar(self) -> str:
        known = "" if self.total is None else f" value='{self.step}' max='{self.total}'"
        count = f"{self.step:,}/{'?' if self.total is None else f'{self.total:,}'}"
        words = html.escape(visible_line(self.text))
        return f"<progress{known} style='width: 20em'></progress> {count} <code>{words}</code>"
