"""Show how training goes: a live bar on a terminal, a line an epoch; in long epochs some more."""

import time
from collections.abc import Iterator
from itertools import islice, takewhile
from statistics import fmean

from netwright.core.terminal.console import Bar
from netwright.metrics.metric_text import metric_text
from netwright.train.callback import Callback
from netwright.train.profiling.throughput import Throughput, in_words
from netwright.train.state import TrainState
from netwright.train.updates.host_copy import HostCopy
from netwright.train.watching.history import STEP, Row

FIRST_DRAWING = 2.0  # seconds until there is a bar: a run that is shorter tells its epochs alone
LINE_EVERY = 30.0  # seconds without a line, where there is no bar
SMOOTHED = 10  # rows by step whose mean loss is shown


class Progress(Callback):
    """Prints to standard error; with `quiet` nothing.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.bar: Bar | None = None
        self.next_line = 0.0
        self.awaited: HostCopy | None = None  # a loss that is to be shown
        self.speed = Throughput()  # of the epoch so far

    def on_fit_start(self, state: TrainState) -> None:
        """Open the bar."""
        self.bar = Bar(state.all_updates, quiet=self.quiet, after=FIRST_DRAWING)
        self.awaited = None
        self._wait()

    def on_epoch_start(self, state: TrainState) -> None:
        """Count from here on."""
        self.speed.mark(state)

    def on_step_end(self, state: TrainState) -> None:
        """Move the bar, a few times a second; without one, a line now and then."""
        if self.bar is None:
            return
        if self.speed.tokens is None:
            self.speed.look(state)
        is_line = not self.bar.is_live and time.monotonic() >= self.next_line
        if not (self.bar.is_due or is_line) or (loss := self._loss(state)) is None:
            return
        told = f"loss {loss:.4f}  lr {state.lr:.3g}  {self._newest_speed(state)}"
        if is_line:
            steps = f"step {state.step:,}/{state.all_updates:,}"
            self._line(f"epoch {_pass(state)}  {steps}  {told}  {state.elapsed:.1f}s")
        else:
            self.bar.move(state.step, f"epoch {_pass(state)}  {told}")

    def on_evaluation(self, state: TrainState) -> None:
        """One line with what was measured on the way."""
        place = f"epoch {_pass(state)}  step {state.step:,}/{state.all_updates:,}"
        self._line(f"{place}  {_measures(state)}  {self._speed(state)}  {state.elapsed:.1f}s")

    def on_epoch_end(self, state: TrainState) -> None:
        """One line with train and validation side by side."""
        place = f"epoch {state.epoch:>3}/{state.epochs}"
        self._line(f"{place}  {_measures(state)}  {self._speed(state)}  {state.elapsed:.1f}s")

    def on_abort(self, state: TrainState) -> None:
        """Take the bar away before the error is shown."""
        if self.bar is not None:
            self.bar.close()

    def on_fit_end(self, state: TrainState) -> None:
        """Take the bar away and say why training ended early, if it did."""
        if self.bar is not None:
            self.bar.close()
            if state.stop_reason:
                steps = "1 step" if state.step == 1 else f"{state.step} steps"
                self.bar.line(f"stopped after {steps}: {state.stop_reason}")

    def _line(self, text: str) -> None:
        if self.bar is not None:
            self.bar.line(text)
            self._wait()

    def _loss(self, state: TrainState) -> float | None:
        """The smoothed loss of the rows by step; before the first of them that of a batch.

        None while that is on its way: nothing waits for the device, the next update asks again.
        """
        losses = [row.value for row in islice(_newest(state, "loss"), SMOOTHED)]
        if losses:
            return fmean(losses)
        self.awaited = self.awaited or HostCopy(state.loss)
        if not self.awaited.is_here:
            return None
        loss, self.awaited = float(self.awaited.read()), None
        return loss

    def _newest_speed(self, state: TrainState) -> str:
        """That of the newest row by step, or of the epoch so far."""
        row = next(_newest(state, "_per_second"), None)
        return self._speed(state) if row is None else in_words(row.name, row.value)

    def _speed(self, state: TrainState) -> str:
        return "".join(in_words(*speed) for speed in self.speed.since(state).items())

    def _wait(self) -> None:
        self.next_line = time.monotonic() + LINE_EVERY


def _pass(state: TrainState) -> str:
    return f"{min(state.epoch + 1, state.epochs)}/{state.epochs}"


def _measures(state: TrainState) -> str:
    """What was measured just now, train and validation side by side."""
    now = takewhile(lambda row: row.step == state.step, reversed(state.history.rows))
    found: dict[str, list[str]] = {}
    for row in reversed([row for row in now if row.split != STEP and row.epoch == state.epoch]):
        found.setdefault(row.name, []).append(f"{row.split} {metric_text(row.value)}")
    return "  ".join(f"{name}: {', '.join(values)}" for name, values in found.items())


def _newest(state: TrainState, ending: str) -> Iterator[Row]:
    """Rows by step whose name ends so, the newest first."""
    rows = reversed(state.history.rows)
    return (row for row in rows if row.split == STEP and row.name.endswith(ending))
