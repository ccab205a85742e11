"""How far a loader of the caller's own was read, kept with the run so that it goes on there.

A resumed run begins the epoch of the loader again and reads the batches that it has used; their
checksum must be that of the run. A stream that can say its place is entered behind them. See
`data/batches/source.py`.
"""

from typing import Any

from netwright.core.terminal.console import print_message
from netwright.data.batches.source import BatchSource, Place
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class KeepBatches(Callback):
    """Keeps the place in the training loader.

    Args:
        source: the batches.
        may_differ: go on even where the loader gives other batches than it gave before.
        quiet: do not tell what is read again.
    """

    def __init__(self, source: BatchSource, *, may_differ: bool, quiet: bool) -> None:
        self.source, self.quiet = source, quiet
        source.may_differ = may_differ

    def on_fit_start(self, state: TrainState) -> None:
        """Tell how many batches are read again to come to the place."""
        if state.position and not self.quiet and not self.source.place.stream:
            print_message(
                f"reading {state.position} batches of the loader again, to go on after them"
            )

    def state_dict(self) -> dict[str, Any]:
        """The place in the present epoch, with the checksum of its batches."""
        return self.source.kept_place()._asdict()

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        epoch, batches, checksum = (int(values[name]) for name in ("epoch", "batches", "checksum"))
        place = Place(epoch, batches, checksum, str(values.get("stream", "")))
        self.source.place = self.source.expected = place
