"""The doctor's eye: what each layer does at a few steps of training, and where NaN comes from.

The first steps are watched, then ever fewer, and the last: for a run of any length at most one step
in 64, so that it costs next to nothing. What was seen is judged afterwards, by `train/symptoms.py`.
"""

from pathlib import Path
from typing import Any

from netwright.core.console import warn
from netwright.core.finding import Finding
from netwright.core.storage import append_text, write_text
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import find_culprit
from netwright.train.layer_history import LayerHistory, LayerRow, Numbers
from netwright.train.layer_lengths import LayerLengths
from netwright.train.state import TrainState
from netwright.train.symptoms import not_finite
from netwright.train.unit_activity import measure_unit_activity

FIRST = 10  # steps that are all watched
EVERY = 64  # later on, steps between two watched ones; more from step 2,048 on
A_DOUBLING = 5  # then there are 2^(5 - 1) watched steps while the number of steps doubles
LOOK = 4  # of so many watched steps, at one also the units are looked at


class Doctor(Callback):
    """Measures lengths of gradients, weights and steps by layer, now and then also sleeping units.

    It draws no random numbers and changes nothing: a run without it is the same, bit for bit.

    Args:
        path: a JSON-lines file for what is seen, or None.
        is_on: watch; one that is off only keeps what was seen before a run was taken up again.
        quiet: do not tell on the console what ended a run.
    """

    def __init__(
        self, path: Path | None = None, *, is_on: bool = True, quiet: bool = False
    ) -> None:
        self.path, self.is_on, self.quiet = path, is_on, quiet
        self.seen, self.written = LayerHistory(), 0
        self.findings: list[Finding] = []  # about what ended the run
        self.lengths: LayerLengths | None = None

    def on_fit_start(self, state: TrainState) -> None:
        """Collect the layers; let the file hold what the run holds."""
        self.lengths, self.findings = LayerLengths(state.model) if self.is_on else None, []
        if state.samples == 0:
            self.seen = LayerHistory()
        if self.lengths is not None and not len(self.seen):
            self.seen = LayerHistory(tuple(self.lengths.layers))
        if self.path is not None and self.seen.layers:
            write_text(self.path, self.seen.to_text())
        self.written = len(self.seen)

    def on_before_update(self, state: TrainState) -> None:
        """Gradients as they are before they are clipped, where the guard lets them pass."""
        if self.lengths is not None and _is_watched(state) and not state.skips_update:
            self.lengths.take_gradients()

    def on_step_end(self, state: TrainState) -> None:
        """How far the weights went."""
        if self.lengths is None or not self.lengths.gradients:
            return
        taken = self.lengths.take_step(state.loss)
        if taken is None:
            return
        loss, lengths = taken
        activity = self._look(state, self.lengths) if _is_looked_at(state) else {}
        row = LayerRow(step=state.step, epoch=state.epoch, loss=loss, **lengths, **activity)
        self.seen.rows.append(row)

    def _look(self, state: TrainState, lengths: LayerLengths) -> dict[str, Numbers]:
        """Which units sleep on the batch at hand, after the step."""
        if state.batch is None or not len(state.batch.inputs):  # a rank may have none of a batch
            return {}
        found = measure_unit_activity(state.model, state.batch.inputs, lengths.layers).values()
        return {
            "dead": tuple(layer.dead for layer in found),
            "saturated": tuple(layer.saturated for layer in found),
        }

    def on_epoch_end(self, state: TrainState) -> None:
        """Write what is new."""
        if self.path is not None and self.written < len(self.seen):
            append_text(self.path, self.seen.lines_from(self.written))
        self.written = len(self.seen)

    def on_fit_end(self, state: TrainState) -> None:
        """Write what is left."""
        self.on_epoch_end(state)

    def on_abort(self, state: TrainState) -> None:
        """Tell where a number came from that is not finite, if that is what ends the run."""
        numbers = (state.loss, *state.whole_gradients(), *state.learned_weights())
        if not self.is_on or all(bool(part.isfinite().all()) for part in numbers):
            return
        batch = state.batch
        data = () if batch is None else (batch.inputs, batch.targets)
        self.findings = [
            not_finite(
                find_culprit(state),
                step=state.step + 1,
                lr=state.lr,
                in_data=not all(bool(part.isfinite().all()) for part in data),
            )
        ]
        if not self.quiet:
            warn(f"doctor: {self.findings[0]}")

    def state_dict(self) -> dict[str, Any]:
        """What was seen, as text; nothing before the first step."""
        return {"seen": self.seen.to_text()} if len(self.seen) else {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        kept = values.get("seen")
        self.seen = LayerHistory.from_text(kept) if kept else LayerHistory(self.seen.layers)


def watch_interval(step: int) -> int:
    """Steps between two watched ones; it does not depend on how long the run will be."""
    return max(EVERY, 1 << max(0, step.bit_length() - A_DOUBLING))


def _is_last(state: TrainState, step: int) -> bool:
    return step + 1 == state.epochs * state.steps_per_epoch


def _is_watched(state: TrainState) -> bool:
    """Whether the update to come is."""
    step = state.step
    return step < FIRST or step % watch_interval(step) == 0 or _is_last(state, step)


def _is_looked_at(state: TrainState) -> bool:
    """Whether after this watched update the units are looked at, too."""
    step = state.step - 1
    if step < FIRST:
        return step == FIRST - 1 or _is_last(state, step)
    return step % (LOOK * watch_interval(step)) == 0 or _is_last(state, step)
