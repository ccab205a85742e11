"""How far a loader of the caller's own was read, kept with the run so that it goes on there.

A resumed run begins the epoch of the loader again and reads the batches that it has used; their
checksum must be that of the run. A stream that can say its place is entered behind them, where its
first batch is that of the run. See `data/batches/source.py`.

Processes that train together read the same stream, each for itself: whether it gives all of them
the same batches is compared once a pass.
"""

from typing import Any

from netwright.core.errors import DataError
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
        self._is_compared = False  # in this pass

    def on_fit_start(self, state: TrainState) -> None:
        """Tell how many batches are read again to come to the place."""
        if state.position and not self.quiet and not self.source.place.stream:
            print_message(
                f"reading {state.position} batches of the loader again, to go on after them"
            )

    def on_epoch_start(self, state: TrainState) -> None:
        """The order of a stream may be another one now."""
        self._is_compared = state.ranks.is_alone

    def on_batch_end(self, state: TrainState) -> None:
        """Refuse a stream of which each process has read other batches."""
        if self._is_compared:
            return
        self._is_compared = True
        checksum = str(self.source.place.checksum).encode()
        if len(set(state.ranks.gather(checksum, "the comparison of batches"))) > 1:
            raise DataError(
                f"the stream gives each of the {state.ranks.world} processes other batches, where "
                f"rows would come twice or never: give its shuffle a seed, stream.shuffle(seed=0)"
            )

    def state_dict(self) -> dict[str, Any]:
        """The place in the present epoch, with the checksum of its batches."""
        return self.source.kept_place()._asdict()

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        epoch, batches, checksum = (int(values[name]) for name in ("epoch", "batches", "checksum"))
        stream, first = str(values.get("stream", "")), int(values.get("first", 0))
        place = Place(epoch, batches, checksum, stream, first)
        self.source.place = self.source.expected = place
