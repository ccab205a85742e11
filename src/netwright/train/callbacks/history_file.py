"""Follow the history as it grows: into a file, so that a killed run has all its numbers."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from netwright.train.callback import Callback
from netwright.train.state import TrainState
from netwright.train.watching.history import Row, append_rows, write_rows

EVERY = 2.0  # seconds between two looks for new rows in an epoch


class FollowHistory(Callback):
    """Tells new rows after every epoch and measurement, in long epochs also on the way."""

    def __init__(self) -> None:
        self.written, self.next_look = 0, 0.0

    @abstractmethod
    def rewrite(self, rows: Sequence[Row]) -> None:
        """Hold these rows in place of what is there."""

    @abstractmethod
    def append(self, rows: Sequence[Row]) -> None:
        """Hold these rows, too."""

    def on_fit_start(self, state: TrainState) -> None:
        """Hold what the run holds; a killed run may have written more."""
        self.rewrite(state.history.rows)
        self._note(state)

    def on_epoch_start(self, state: TrainState) -> None:
        """A run that was set back has fewer rows than were told."""
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
        self.append(state.history.rows[self.written :])
        self._note(state)

    def _note(self, state: TrainState) -> None:
        self.written, self.next_look = len(state.history), time.monotonic() + EVERY

    def on_fit_end(self, state: TrainState) -> None:
        """Write what is left."""
        self.on_epoch_end(state)


class HistoryFile(FollowHistory):
    """A JSON-lines file of the rows.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def rewrite(self, rows: Sequence[Row]) -> None:
        """Replace the file, in one step."""
        write_rows(self.path, rows)

    def append(self, rows: Sequence[Row]) -> None:
        """Add lines to it."""
        append_rows(self.path, rows)
