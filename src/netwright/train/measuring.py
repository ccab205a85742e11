"""When a run is measured, and what: training and validation side by side, also between epochs.

A measurement is what a schedule that looks, early stopping and the best weights go by. There is one
at the end of each pass, with train and val; every `eval_every` updates one of val; and one of both
at the last update of a run whose length is given in updates. Two at the same place are one.
"""

import time

from netwright.data.dataset import Split
from netwright.optimizers.plateau import PlateauRates
from netwright.train.callbacks.early_stopping import is_lower_better
from netwright.train.evaluate import measure_quickly
from netwright.train.own.schedule import OwnSchedule
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState


class Measuring:
    """Records measurements in a run's history, of the weights that its model holds.

    Args:
        config: how often, and what a schedule looks at.
        val: the validation data, or None.
        searched: the rows whose optimum is searched for, all at once: they are measured where the
            search has ended. None where batches are learned from: their measures are added up.
    """

    def __init__(
        self, config: TrainConfig, val: Split | None, searched: Split | None = None
    ) -> None:
        self.config, self.val, self.searched = config, val, searched

    def is_due(self, state: TrainState, *, after: int, ends: bool) -> bool:
        """Whether there is a measurement now, on the way.

        Args:
            state: after an update.
            after: updates before it; where float16 overflowed, none was made.
            ends: it was the last of the pass, which is measured anyhow.
        """
        if ends or state.step == after:
            return False
        every = self.config.eval_every
        is_asked = every is not None and self.val is not None and state.step % every == 0
        return is_asked or state.step == state.last_step

    def of_pass(self, state: TrainState) -> None:
        """At the end of a pass."""
        self.take(state)
        if isinstance(state.schedule, OwnSchedule):
            state.schedule.end_epoch(state.history.latest(self._monitor))
        elif isinstance(state.schedule, PlateauRates):
            self._show(state, state.history.latest(self._monitor))

    def on_the_way(self, state: TrainState) -> None:
        """Between two ends of passes; the pass at hand goes on being added up."""
        if state.is_whole:
            self.take(state)
        else:
            self._take_val(state)
        value = state.measured_now(self._monitor)
        if value is not None:
            self._show(state, value)

    def take(self, state: TrainState) -> None:
        """Record train and validation side by side."""
        if self.searched is None:
            state.record("train", state.running.values(state.ranks))
        else:
            state.record("train", measure_quickly(state.model, self.searched, state.task))
        self._take_val(state)

    def _take_val(self, state: TrainState) -> None:
        if self.val is None:
            return
        started = time.monotonic()
        state.ranks.follow_first(state.buffers())  # batch norm's are those of its rank
        measures = measure_quickly(
            state.model, self.val, state.task, workers=self.config.workers, ranks=state.ranks
        )
        state.record("val", measures)
        state.measuring_seconds += time.monotonic() - started

    @property
    def _monitor(self) -> str:
        """What a schedule looks at: the monitored measure, without validation the loss."""
        monitor = self.config.monitor
        return "train/loss" if self.val is None and monitor.startswith("val/") else monitor

    def _show(self, state: TrainState, value: float) -> None:
        if isinstance(state.schedule, PlateauRates):
            falls = is_lower_better(self._monitor, state.task.own_metrics)
            state.schedule.see(value if falls else -value)
