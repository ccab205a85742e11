"""Write the history to a file as it grows, so that a killed run has all its numbers."""

import time
from pathlib import Path

from netwright.train.callback import Callback
from netwright.train.state import TrainState
from netwright.train.watching.history import append_rows, write_rows

EVERY = 2.0  # seconds between two looks for new rows in an epoch


class HistoryFile(Callback):
    """Appends new rows after every epoch and measurement, in long epochs also on the way.

    Args:
        path: a JSON-lines file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.written, self.next_look = path, 0, 0.0

    def on_fit_start(self, state: TrainState) -> None:
        """Let the file hold what the run holds; a killed run may have written more."""
        write_rows(self.path, state.history.rows)
        self._note(state)

    def on_epoch_start(self, state: TrainState) -> None:
        """A run that was set back has fewer rows than the file."""
        if len(state.history) < self.written:
            self.on_fit_start(state)

    def on_step_end(self, state: TrainState) -> None:
        """Write what is new, now and then."""
        if len(state.history) > self.written and time.monotonic() >= self.next_look:
            self.on_epoch_end(state)

    def on_evaluation(self, state: TrainState) -> None:
        """Write what is new."""
        self.on_epoch_end(state)

    def on_epoch_end(self, state: TrainState) -> None:
        """Write what is new."""
        append_rows(self.path, state.history.rows[self.written :])
        self._note(state)

    def _note(self, state: TrainState) -> None:
        self.written, self.next_look = len(state.history), time.monotonic() + EVERY

    def on_fit_end(self, state: TrainState) -> None:
        """Write what is left."""
        self.on_epoch_end(state)
