"""Save the run at the end of epochs, in long ones also on the way, and at its own end.

On the way it saves when a batch is over: what was measured after its update is part of it. Of a
sharded run the files are written while training goes on, and each save waits for the one before.
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.saving.best_checkpoint import find_best
from netwright.train.saving.checkpoint import begin_save
from netwright.train.saving.checkpoint_store import CheckpointStore, Choose
from netwright.train.saving.shared_save import SharedSave
from netwright.train.state import TrainState

MOST_OF_TIME = 1 / 100  # the share of training that saving may take where it chooses its moments
LONGEST_WAIT = 60.0  # seconds without a checkpoint, in an epoch that takes longer
LOOK_EVERY = 100  # steps between two looks at the clock
GUESSED_RATE = 500e6  # bytes a second, before a save has shown how long one takes


class SaveCheckpoints(Callback):
    """Writes `checkpoints/step-000100/`, `last.json` and `best.json` into a run folder.

    Args:
        folder: the run folder.
        watched: the callbacks whose state is saved too.
        best: watches the measure that tells which is the best, or None.
        every: epochs between two saves; None: as often as saving takes little of the time.
        every_steps: updates between two saves, beside those at the end of epochs.
        keep: how many of the newest to keep, beside the best.
        origin: the checkpoint that the run goes on from; it becomes the newest.
    """

    def __init__(
        self,
        folder: Path,
        *,
        watched: Sequence[Callback] = (),
        best: EarlyStopping | None = None,
        every: int | None = None,
        every_steps: int | None = None,
        keep: int = 2,
        origin: Path | None = None,
    ) -> None:
        self.store = CheckpointStore(folder, keep=keep)
        self.watched, self.best = tuple(watched), best
        self.every, self.every_steps, self.origin = every, every_steps, origin
        self.saved_at: tuple[int, int] | None = None
        self.saved_when, self.cost = time.monotonic(), 0.0
        self.is_asked = False
        self.under_way: SharedSave | None = None

    def on_fit_start(self, state: TrainState) -> None:
        """What the run goes on from need not be saved again; a kill may have kept its pointers."""
        self.saved_at = _moment(state) if state.samples else None
        self.saved_when, self.is_asked = time.monotonic(), False
        self.cost = _size(state) / GUESSED_RATE
        if self.origin is not None and state.ranks.is_first:
            self.store.add(self.origin, choose=self._choose(state))

    def on_evaluation(self, state: TrainState) -> None:
        """After a measurement it is time as after an epoch."""
        self.is_asked = self.every is None and self._is_due(state)

    def on_batch_end(self, state: TrainState) -> None:
        """Save when so many updates are made, or when the last save is long ago."""
        if state.accumulated or state.skips_update:
            return
        asked, self.is_asked = self.is_asked, False
        if asked or self._is_time(state):
            self.save(state)

    def _is_time(self, state: TrainState) -> bool:
        """Whether an update is one of those to save after."""
        if self.every_steps is not None:
            return state.step % self.every_steps == 0
        is_looked_at = self.every is None and state.step % LOOK_EVERY == 0
        return is_looked_at and self._is_due(state, LONGEST_WAIT)

    def on_epoch_end(self, state: TrainState) -> None:
        """Save when it is time."""
        if self._is_due(state) if self.every is None else state.epoch % self.every == 0:
            self.save(state)

    def on_fit_end(self, state: TrainState) -> None:
        """Save the last moment, and wait for it."""
        if state.samples:
            self.save(state)
        self._finish()

    def on_abort(self, state: TrainState) -> None:
        """What was saved before the error is to be there."""
        save, self.under_way = self.under_way, None
        if save is not None:
            save.give_up()

    def save(self, state: TrainState) -> None:
        """Write a checkpoint and move the pointers, unless this moment is saved already."""
        if self.saved_at == _moment(state):
            return
        self._finish()
        state.confirm()  # before anything is made for it
        started = time.monotonic()
        self._write(state)
        self.saved_at, self.saved_when = _moment(state), time.monotonic()
        self.cost = self.saved_when - started

    def _write(self, state: TrainState) -> None:
        # The other ranks hand over their part; they may be where there is no such folder.
        place = self.store.place_for(state.step) if state.ranks.is_first else self.store.path
        point = partial(self.store.add, place, choose=self._choose(state))
        self.under_way = begin_save(place, state, self.watched, then=point)

    def _finish(self) -> None:
        """Wait for the save under way, if there is one; what went wrong in it is told here."""
        save, self.under_way = self.under_way, None
        if save is not None:
            save.finish()

    def _choose(self, state: TrainState) -> Choose:
        """What tells the best of the checkpoints; where nothing is watched, it is the newest."""
        if self.best is None:
            return lambda saved, before: next(reversed(saved), None)
        # Of the present moment: training may go on before it is asked.
        return partial(
            find_best,
            values=self.best.values_by_step(state),
            best_step=self.best.best_step,
            min_delta=self.best.min_delta,
        )

    def _is_due(self, state: TrainState, least: float = 0.0) -> bool:
        """Whether saving again keeps its share of the time small; the first rank's clock counts."""
        passed = time.monotonic() - self.saved_when
        cost = self.cost + (self.under_way.seconds if self.under_way is not None else 0.0)
        due = passed >= max(least, cost / MOST_OF_TIME)
        return state.ranks.decide(due)


def _size(state: TrainState) -> int:
    """About the bytes of a checkpoint: the model, and two moments of what learns."""
    kept = [*state.model.state_dict().values(), *state.learned_weights(), *state.learned_weights()]
    return sum(part.numel() * part.element_size() for part in kept)


def _moment(state: TrainState) -> tuple[int, int]:
    """The same for two saves that would be equal: nothing happens without examples or epochs."""
    return state.samples, state.epoch
