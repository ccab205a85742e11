"""A row every few updates: loss, learning rate, gradient norm, speed and memory.

How many updates apart rows are is asked for, or chosen by time: a row about every second, and 30 in
a run that is shorter. The first updates, by which it is chosen, have a row each. After every 1,000
rows there are half as many, so that a run of any length keeps a few thousand.
"""

import math
import time
from typing import Any

import torch
from torch import Tensor

from netwright.core.peak_memory import peak_memory
from netwright.train.callback import Callback, Part
from netwright.train.profiling.throughput import Throughput
from netwright.train.state import TrainState
from netwright.train.watching.history import STEP

SECONDS = 1.0  # between two rows, about
LOOKS = (1, 2, 4, 8)  # updates after the first of a process, at which the clock is read
FEWEST = 30  # rows of a run that has as many updates
MOST = 1_000  # rows after which they get rarer


class StepRows(Callback):
    """Adds rows of split "step" to the history.

    Nothing waits for the device but the writing of a row. Speed and memory depend on the machine;
    all else is the same in a run that was stopped and went on. Of several ranks the loss is the
    mean of all, memory is the first one's.

    Args:
        every: updates between two rows; None: chosen by time.
    """

    every: int
    rows: int
    is_chosen: bool

    def __init__(self, every: int | None = None) -> None:
        self.asked = every
        self.norm: Tensor | None = None
        self.lr = 0.0
        self.speed = Throughput()
        self._forget()

    def on_fit_start(self, state: TrainState) -> None:
        """Begin anew, or go on."""
        if state.samples == 0:
            self._forget()
        self.first: tuple[int, float] | None = None

    def on_epoch_start(self, state: TrainState) -> None:
        """Between two passes much else is done; a run may have been set back."""
        self.last = state.step
        self.speed.mark(state)

    def part_in_update(self, state: TrainState) -> Part:
        """Only some updates get a row."""
        return "host" if self._gets_row(state) else "none"

    def on_before_update(self, state: TrainState) -> None:
        """The gradients before they are clipped, and the rate, of an update that gets a row."""
        if self._gets_row(state):
            self.norm, self.lr = gradient_norm(state), state.lr

    def on_step_end(self, state: TrainState) -> None:
        """Write a row where it is time; float16 may end a step without an update."""
        if state.step % self.every == 0 and state.step > self.last:
            self._write(state)
        if not self.is_chosen:
            self._choose(state)

    def _gets_row(self, state: TrainState) -> bool:
        return (state.step + 1) % self.every == 0

    def _write(self, state: TrainState) -> None:
        losses = state.recent.sum()
        total, norm = torch.stack([losses, losses if self.norm is None else self.norm]).tolist()
        if not state.ranks.is_alone:
            total = float(state.ranks.sum(torch.tensor(total).double(), "the sum of losses"))
        numbers = {"loss": total / state.recent.updates, "lr": self.lr}
        if self.norm is not None and math.isfinite(norm):  # the square of 1e20 is infinite
            numbers["gradient_norm"] = norm
        numbers |= {**self.speed.since(state), "memory": round(peak_memory(state.device), 1)}
        state.record(STEP, numbers)
        state.recent.begin()
        self.last = state.step
        self.speed.mark(state)
        if self.asked is None:
            self.rows += 1
            if self.is_chosen and self.rows >= MOST:
                self.every, self.rows = 2 * self.every, 0

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
    """The length of all gradients together, on the device; None where no weight has one."""
    grads = state.whole_gradients()
    if not grads:
        return None
    lengths = [length.float() for length in torch._foreach_norm(grads)]
    norm: Tensor = torch.linalg.vector_norm(torch.stack(lengths))
    return norm


def round_down(count: float) -> int:
    """The largest of 1, 2, 5, 10, 20, 50 ... that is not more."""
    power: int = 10 ** int(math.log10(count))
    return next(power * digit for digit in (5, 2, 1) if power * digit <= count)
