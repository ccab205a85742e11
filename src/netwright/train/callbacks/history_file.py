"""Write the history to a file as it grows, so that a killed run has all its numbers."""

from pathlib import Path

from netwright.train.callback import Callback
from netwright.train.history import append_rows, write_rows
from netwright.train.state import TrainState


class HistoryFile(Callback):
    """Appends new rows after every epoch.

    Args:
        path: a JSON-lines file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.written = path, 0

    def on_fit_start(self, state: TrainState) -> None:
        """Let the file hold what the run holds; a killed run may have written more."""
        write_rows(self.path, state.history.rows)
        self.written = len(state.history)

    def on_epoch_end(self, state: TrainState) -> None:
        """Write what is new."""
        append_rows(self.path, state.history.rows[self.written :])
        self.written = len(state.history)

    def on_fit_end(self, state: TrainState) -> None:
        """Write what is left."""
        self.on_epoch_end(state)
