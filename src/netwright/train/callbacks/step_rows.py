"""A row every few updates: loss, learning rate, gradient norm, speed and memory.

How many updates apart rows are is asked for, or chosen by time: a row about every second, and 30 in
a run that is shorter. The first updates, by which it is chosen, have a row each. After every 1,000
rows there are half as many, so that a run of any length keeps a few thousand.

Where the device is not waited for, neither is it for a row: the numbers of one are brought to the
host while the next updates are queued, and it is written when these updates are known to be good.
"""

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.core.peak_memory import peak_memory
from netwright.train.callback import Callback, Part
from netwright.train.profiling.throughput import Throughput
from netwright.train.ranks import Ranks
from netwright.train.state import Place, TrainState, nothing_to_confirm
from netwright.train.updates.finite_check import LAG
from netwright.train.updates.host_copy import HostCopy
from netwright.train.watching.history import STEP
from netwright.train.watching.lengths import lengths_of

SECONDS = 1.0  # between two rows, about
LOOKS = (1, 2, 4, 8)  # updates after the first of a process, at which the clock is read
FEWEST = 30  # rows of a run that has as many updates
MOST = 1_000  # rows after which they get rarer


class _Awaited(NamedTuple):
    """A row whose loss and gradient norm are on their way to the host.

    Args:
        place: of it in the history.
        numbers: the sum of the losses and the length of the gradient, (2,).
        updates: over which the losses are added up.
        lr: the learning rate.
        memory: the most so far.
        has_norm: there was a gradient.
    """

    place: Place
    numbers: HostCopy
    updates: int
    lr: float
    memory: float
    has_norm: bool

    @classmethod
    def of(cls, state: TrainState, norm: Tensor | None, lr: float) -> "_Awaited":
        """The row of this moment; nothing waits for the device."""
        losses = state.recent.sum()
        numbers = HostCopy(torch.stack([losses, losses if norm is None else norm]))
        memory = round(peak_memory(state.device), 1)
        return cls(state.place(), numbers, state.recent.updates, lr, memory, norm is not None)

    def read(self, ranks: Ranks) -> dict[str, float]:
        """Its numbers, when they are there; of several ranks the loss is the mean of all."""
        total, norm = self.numbers.read().tolist()
        if not ranks.is_alone:
            total = float(ranks.sum(torch.tensor(total).double(), "the sum of losses"))
        found = {"loss": total / self.updates, "lr": self.lr}
        if self.has_norm and math.isfinite(norm):  # the square of 1e20 is infinite
            found["gradient_norm"] = norm
        return found


class StepRows(Callback):
    """Adds rows of split "step" to the history.

    The first few, by which their number is chosen, wait for the device. Speed and memory depend on
    the machine; all else is the same in a run that was stopped and went on. Of several ranks the
    loss is the mean of all, memory is the first one's.

    Args:
        every: updates between two rows; None: chosen by time.
    """

    every: int
    rows: int
    is_chosen: bool

    def __init__(self, every: int | None = None) -> None:
        self.asked = every
        self.norm: Tensor | None = None
        self.room = torch.zeros(())  # for the norm, where a CUDA graph leaves that of each update
        self.lr = 0.0
        self.speed = Throughput()
        self.awaited: list[_Awaited] = []
        self._forget()

    def on_fit_start(self, state: TrainState) -> None:
        """Begin anew, or go on."""
        self.awaited, self.room = [], torch.zeros((), device=state.device)
        state.tell_awaited = partial(self._tell_all, state)
        if state.samples == 0:
            self._forget()
        self.first: tuple[int, float] | None = None

    def on_epoch_start(self, state: TrainState) -> None:
        """Between two passes much else is done; a run may have been set back."""
        self.awaited = self._of_made(state)
        self.last = state.step
        self.speed.mark(state)
        self._note_rate(state)

    def part_in_update(self, state: TrainState) -> Part:
        """Only some updates get a row; in a graph, which is as quick, the norm of all is taken."""
        if state.may_capture:
            return "queued"
        return "host" if self._gets_row(state) else "none"

    def on_before_update(self, state: TrainState) -> None:
        """The gradients before they are clipped, and the rate, of an update that gets a row."""
        if state.may_capture:
            norm = gradient_norm(state)
            self.norm = None if norm is None else self.room.copy_(norm)
        elif self._gets_row(state):
            self.norm = gradient_norm(state)
            self._note_rate(state)

    def on_step_end(self, state: TrainState) -> None:
        """Write a row where it is time; float16 may end a step without an update."""
        if self.awaited and self.awaited[0].place.step < state.step - LAG:
            row = self.awaited.pop(0)
            self._tell(state, [row], row.place.samples)
        if state.step % self.every == 0 and state.step > self.last:
            self._write(state)
        if not self.is_chosen:
            self._choose(state)
        self._note_rate(state)

    def _gets_row(self, state: TrainState) -> bool:
        return (state.step + 1) % self.every == 0

    def _note_rate(self, state: TrainState) -> None:
        """The learning rate of the update to come, where it gets a row."""
        if self._gets_row(state):
            self.lr = state.lr

    def on_abort(self, state: TrainState) -> None:
        """Of the updates that were made, all rows that can be."""
        with suppress(RunError):  # another one ends the run
            self._tell_all(state)

    def _write(self, state: TrainState) -> None:
        """Make a row; it is told at once where the device is waited for anyway."""
        waits = not self.is_chosen or state.confirm is nothing_to_confirm
        if waits:
            state.confirm()
        self.awaited.append(_Awaited.of(state, self.norm, self.lr))
        if waits:
            self._tell_all(state)
        state.recent.begin()
        self.last = state.step
        if self.asked is None:
            self.rows += 1
            if self.is_chosen and self.rows >= MOST:
                self.every, self.rows = 2 * self.every, 0

    def _tell_all(self, state: TrainState) -> None:
        """All updates are known: add their rows; those of updates that were undone go."""
        made, self.awaited = self._of_made(state), []
        self._tell(state, made, state.samples)

    def _of_made(self, state: TrainState) -> list[_Awaited]:
        """The rows of updates that were not undone."""
        return [row for row in self.awaited if row.place.step <= state.step]

    def _tell(self, state: TrainState, rows: Sequence[_Awaited], samples: int) -> None:
        """Add rows to the history.

        Their speed is that between the moments at which updates are known: as late for the rows
        before as for these.

        Args:
            state: the run.
            rows: whose numbers are there.
            samples: of all updates that are known.
        """
        if not rows:
            return
        speed = self.speed.since(state, samples)
        for row in rows:
            numbers = {**row.read(state.ranks), **speed, "memory": row.memory}
            state.record_at(row.place, STEP, numbers)
        self.speed.mark(state, samples)

    def _choose(self, state: TrainState) -> None:
        """As many updates as take a second, by the first few; the first rank's clock counts."""
        now = time.monotonic() - state.measuring_seconds
        if self.first is None:  # not counted: much is prepared in it
            self.first = (state.step, now)
            return
        made, passed = state.step - self.first[0], now - self.first[1]
        if made not in LOOKS:
            return
        chosen = 0
        if passed >= SECONDS or made == LOOKS[-1]:
            fitting = SECONDS * made / max(passed, 1e-9)
            chosen = round_down(max(1.0, min(fitting, state.all_updates / FEWEST)))
        chosen = int(state.ranks.tell(str(chosen)))
        if chosen:
            self.every, self.is_chosen = chosen, True

    def _forget(self) -> None:
        self.every, self.rows, self.is_chosen = self.asked or 1, 0, self.asked is not None

    def state_dict(self) -> dict[str, Any]:
        """What was chosen; nothing where it was asked for, or before the first row."""
        if self.asked is not None or not (self.rows or self.is_chosen):
            return {}
        return {"every": self.every, "rows": self.rows, "is_chosen": self.is_chosen}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self._forget()
        if self.asked is None and values:
            self.every, self.rows = max(1, int(values["every"])), int(values["rows"])
            self.is_chosen = bool(values["is_chosen"])


@torch.no_grad()
def gradient_norm(state: TrainState) -> Tensor | None:
    """The length of all gradients together, on the run's device; None where no weight has one."""
    grads = state.whole_gradients()
    if not grads:
        return None
    norm: Tensor = torch.linalg.vector_norm(lengths_of(grads), keepdim=True)  # (1,)
    return state.engine.whole_norms(norm)[0].to(state.device)


def round_down(count: float) -> int:
    """The largest of 1, 2, 5, 10, 20, 50 ... that is not more."""
    power: int = 10 ** int(math.log10(count))
    return next(power * digit for digit in (5, 2, 1) if power * digit <= count)
