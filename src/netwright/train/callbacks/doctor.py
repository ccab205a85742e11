"""The doctor's eye: what each layer does at a few steps of training, and where NaN comes from.

The first steps are watched, then two while their number doubles, and the last: 22 of the first
2,000. Where that would take more than a small share of the time, fewer are; the first two always
are: a curve takes two points, and a pause in the first look shall not cost a run its curve.
What was seen is judged afterwards, by `train/watching/symptoms.py`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.files.storage import append_text, remove_file, write_text
from netwright.core.finding import Finding
from netwright.core.terminal.console import print_warning
from netwright.core.trees import Tree, take_rows, tensors_of
from netwright.inspection.inside.unit_activity import UnitActivity, unit_activities
from netwright.train.callback import Callback, Part
from netwright.train.precision import Precision, autocast
from netwright.train.state import TrainState
from netwright.train.updates.culprit import find_culprit
from netwright.train.watching.layer_history import LayerHistory, LayerRow, Numbers
from netwright.train.watching.layer_norms import LayerNorms
from netwright.train.watching.symptoms import not_finite
from netwright.train.watching.time_budget import Clock, TimeBudget

A_DOUBLING = 2  # steps are watched while their number doubles
A_CURVE = 2  # steps are watched however long it takes
FIRST_LOOK, LOOK = 16, 16  # the step after which units are looked at first, then at times so many


class _Unread(NamedTuple):
    """What was seen of an update, still on the device: nothing waits for it."""

    step: int
    epoch: int
    numbers: Tensor
    units: list[UnitActivity] | None


class Doctor(Callback):
    """Measures norms of gradients, weights and steps by layer, now and then also sleeping units.

    It draws no random numbers and changes nothing: a run without it is the same, bit for bit. What
    it sees at a step is the same on any machine; which steps it sees is so while all looks of a run
    take less than 0.15 s, see `train/watching/time_budget.py`.

    Args:
        path: a JSON-lines file for what is seen, or None.
        is_on: watch; one that is off only keeps what was seen before a run was taken up again.
        quiet: do not tell on the console what ended a run.
        precision: in which units are looked at: that of training, whose speed they then have.
        clock: by which its time is counted.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        is_on: bool = True,
        quiet: bool = False,
        precision: Precision = "fp32",
        clock: Clock | None = None,
    ) -> None:
        self.path, self.is_on, self.quiet, self.precision = path, is_on, quiet, precision
        self.seen, self.written = LayerHistory(), 0
        self.findings: list[Finding] = []  # about what ended the run
        self.norms: LayerNorms | None = None
        self.unread: list[_Unread] = []
        self.clock = clock
        self.budget = TimeBudget(torch.device("cpu"), clock)
        self.decided = (-1, False)  # of the last step that could be watched: whether it is
        self.begun_at = 0

    def on_fit_start(self, state: TrainState) -> None:
        """Let the file hold what the run holds."""
        self.norms, self.findings, self.unread = None, [], []
        self.budget, self.decided = TimeBudget(state.device, self.clock), (-1, False)
        self.begun_at = state.step
        if state.samples == 0:
            self.seen = LayerHistory()
        if self.path is not None and len(self.seen):
            write_text(self.path, self.seen.to_text())
        elif self.path is not None:
            remove_file(self.path)
        self.written = len(self.seen)

    def on_epoch_start(self, state: TrainState) -> None:
        """A run that was set back has not made the updates behind its place."""
        self._forget_unmade(state)

    def part_in_update(self, state: TrainState) -> Part:
        """Only some updates are watched."""
        return "host" if self.is_on and self._is_watched(state) else "none"

    def on_before_update(self, state: TrainState) -> None:
        """Gradients as they are before they are clipped, where the guard lets them pass."""
        if not self.is_on or not self._is_watched(state) or state.skips_update:
            return
        with self.budget.spending("layers"):
            if self.norms is None:
                with autocast(self.precision, state.device):
                    inputs = _inputs_at_hand(state)
                    self.norms = LayerNorms(state.model, inputs, state.engine)
            if not len(self.seen):
                self.seen = LayerHistory(tuple(self.norms.layers))
            self.norms.take_gradients()

    def on_step_end(self, state: TrainState) -> None:
        """How far the weights went."""
        if self.norms is None or not self.norms.gradients:
            return
        with self.budget.spending("layers"):
            numbers = self.norms.take_step(state.loss)
        units = self._look(state) if _is_looked_at(state) else None
        self.unread.append(_Unread(state.step, state.epoch, numbers, units))

    def _look(self, state: TrainState) -> list[UnitActivity] | None:
        """What the units do on the batch at hand, after the step."""
        inputs, batch = _inputs_at_hand(state), state.batch
        an_update = self.budget.busy / max(1, state.step - self.begun_at)
        is_granted = state.ranks.decide(self.budget.grants("units", guess=an_update))
        if inputs is None or batch is None or not is_granted:
            return None
        inputs = take_rows(inputs, slice(state.task.rows_at_once(batch)))
        with self.budget.spending("units"), autocast(self.precision, state.device):
            return unit_activities(state.model, inputs)

    def _is_watched(self, state: TrainState) -> bool:
        """Whether the update to come is; asked again, the answer is the same."""
        if not _may_be_watched(state):
            return False
        if self.decided[0] != state.step:
            is_granted = state.ranks.decide(self.budget.grants("layers", sure=A_CURVE))
            self.decided = (state.step, is_granted)
        return self.decided[1]

    def _read(self) -> None:
        """Bring to the host what was seen."""
        watching, unread = self.norms, self.unread
        self.unread = []
        if watching is None:
            return
        for step, epoch, numbers, units in unread:
            taken = watching.read(numbers)
            if taken is not None:
                loss, norms = taken
                activity = {} if units is None else shares_by_layer(units, watching.layers)
                row = LayerRow(step=step, epoch=epoch, loss=loss, **norms, **activity)
                self.seen.rows.append(row)

    def on_epoch_end(self, state: TrainState) -> None:
        """Write what is new."""
        self._write()

    def on_fit_end(self, state: TrainState) -> None:
        """Write what is left."""
        self._write()
        self.budget.let_go()

    def on_abort(self, state: TrainState) -> None:
        """Tell where a number came from that is not finite, if that is what ends the run."""
        self._tell_origin_of_nan(state)
        self._forget_unmade(state)
        self._write()
        self.budget.let_go()

    def _forget_unmade(self, state: TrainState) -> None:
        """Where the device was not waited for, there may be updates that moved nothing."""
        self.unread = [one for one in self.unread if one.step <= state.step]
        if self.norms is not None:
            self.norms.gradients = []

    def _tell_origin_of_nan(self, state: TrainState) -> None:
        weights = state.engine.own(state.learned_weights())
        numbers = (state.loss, *state.whole_gradients(), *weights)
        if not self.is_on or all(bool(part.isfinite().all()) for part in numbers):
            return
        batch = state.batch
        data = [] if batch is None else tensors_of((batch.inputs, batch.targets))
        self.findings = [
            not_finite(
                find_culprit(state),
                step=state.step + 1,
                lr=state.lr,
                in_data=not all(bool(part.isfinite().all()) for part in data),
            )
        ]
        if not self.quiet:
            print_warning(f"doctor: {self.findings[0]}")

    def _write(self) -> None:
        """Add what the file lacks; the first line names the layers."""
        self._read()
        if self.path is not None and self.written < len(self.seen):
            new = self.seen.lines_from(self.written) if self.written else self.seen.to_text()
            append_text(self.path, new)
        self.written = len(self.seen)

    def state_dict(self) -> dict[str, Any]:
        """What was seen, as text; nothing before the first step."""
        self._read()
        return {"seen": self.seen.to_text()} if len(self.seen) else {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.unread = []
        kept = values.get("seen")
        self.seen = LayerHistory.from_text(kept) if kept else LayerHistory(self.seen.layers)


def shares_by_layer(found: Sequence[UnitActivity], layers: Iterable[str]) -> dict[str, Numbers]:
    """Dead ReLUs and saturated values of each layer; an activation belongs to the layer before it.

    The device is waited for once, for the counts of all layers together.

    Args:
        found: in the order in which they ran.
        layers: the names of all parts with weights; of several activations the worst counts.
    """
    dead: dict[str, float | None] = dict.fromkeys(layers)
    saturated = dead.copy()
    layer = next(iter(dead))
    counts = torch.stack([units.stuck for units in found]).tolist() if found else []
    for units, (dead_units, flat_values) in zip(found, counts, strict=True):
        layer = path if (path := units.path or "model") in dead else layer
        if units.activation.is_rectifier:
            share = round(dead_units / units.units, 4)
            dead[layer] = max(share, dead[layer] or 0.0)
        if units.activation.is_bounded:
            share = round(flat_values / units.count, 4)
            saturated[layer] = max(share, saturated[layer] or 0.0)
    return {"dead": tuple(dead.values()), "saturated": tuple(saturated.values())}


def watch_interval(step: int) -> int:
    """Steps between two watched ones; it does not depend on how long the run will be."""
    return 1 << max(0, step.bit_length() - A_DOUBLING)


def _inputs_at_hand(state: TrainState) -> Tree | None:
    """Those of the present batch, of which a rank may have no row."""
    if state.task.unmeasured:
        return None  # the model is not called on inputs
    return None if state.batch is None or not len(state.batch.targets) else state.batch.inputs


def _is_last(state: TrainState, step: int) -> bool:
    return step + 1 == state.all_updates


def _may_be_watched(state: TrainState) -> bool:
    """Whether the update to come is one of those that are watched where there is time."""
    return state.step % watch_interval(state.step) == 0 or _is_last(state, state.step)


def _is_looked_at(state: TrainState) -> bool:
    """Whether after this watched update the units are looked at, too."""
    step = look = state.step - 1
    while look > FIRST_LOOK and look % LOOK == 0:
        look //= LOOK
    return look == FIRST_LOOK or _is_last(state, step)
