"""Keep a few snapshots of the weights along the way, evenly spread over a run of any length.

Every step is kept at first. When there is no more room, every second snapshot goes and only every
second step is kept from then on, and so on: after any number of steps the snapshots are those of
the multiples of a power of two.

Shapes: P weights, S snapshots.
"""

from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netwright.train.callback import Callback
from netwright.train.parts import count_up_to, parts_of, weights_by_part
from netwright.train.saving.kept_path import KeptPath
from netwright.train.state import TrainState

MOST_BYTES = 8 * 2**20  # in all: they are part of every checkpoint
FEWEST = 3  # a path of fewer snapshots shows no bend: a model too large for them keeps none


class KeepPath(Callback):
    """Holds snapshots of what the optimizer moves, and writes them to a file at the end.

    Taking one costs a copy on the device, which is not waited for, of a few megabytes at most: all
    of them take some hundredths of a second. Nothing is written in training.
    They are part of the checkpoint, so a run that was killed leaves the same path as one that was
    not.

    Args:
        file: where the path is written.
        most: how many snapshots to hold, beside the last weights; 0 for none.
        frozen: the part of the model up to which nothing learns to the end; no room goes to it.
    """

    path: dict[int, Tensor]
    spacing: int

    def __init__(self, file: Path, most: int, *, frozen: str = "") -> None:
        self.file, self.most, self.frozen = file, most, frozen
        self.room = 0
        self.moved: dict[str, Tensor] = {}
        self._forget()

    def on_fit_start(self, state: TrainState) -> None:
        """Begin anew, or go on with what a checkpoint held as far as there is room for it."""
        moved = {id(weight) for weight in state.learned_weights()}
        if self.frozen:
            parts = count_up_to(parts_of(state.model), self.frozen)
            still = chain.from_iterable(weights_by_part(state.model)[:parts])
            moved -= {id(weight) for weight in still}
        self.moved = {
            name: weight
            for name, weight in state.model.named_parameters()
            if id(weight) in moved and not weight.is_complex()  # a path is drawn in real numbers
        }
        count = sum(weight.numel() for weight in self.moved.values())
        fitting = MOST_BYTES // max(count * torch.float32.itemsize, 1)
        is_kept = count > 0 and fitting >= FEWEST and state.ranks.is_first
        is_kept = is_kept and not state.engine.shards  # no rank holds all of a snapshot
        self.room = min(self.most, fitting) if is_kept else 0
        if state.samples == 0 or not self.room:
            self._forget()
        self._thin_out()
        self.on_step_end(state)

    def on_epoch_start(self, state: TrainState) -> None:
        """A run that was set back has not made the steps behind its place."""
        self.path = {step: kept for step, kept in self.path.items() if step <= state.step}

    def on_step_end(self, state: TrainState) -> None:
        """Take a snapshot where it is time."""
        if self.room and state.step % self.spacing == 0 and state.step not in self.path:
            if len(self.path) == self.room:
                state.confirm()  # what is thinned out does not come back
            self.path[state.step] = self._snapshot(state)
            self._thin_out()

    def on_fit_end(self, state: TrainState) -> None:
        """Write the path with its end, which a longer run would pass by."""
        if self.path:
            whole = {**self.path, state.step: self._snapshot(state)}
            self._kept(whole).save(self.file)

    def state_dict(self) -> dict[str, Any]:
        """The snapshots so far."""
        return {"spacing": self.spacing, "path": dict(self.path)} if self.path else {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        if not values:  # nothing had been kept
            self._forget()
            return
        self.spacing = max(1, int(values["spacing"]))
        self.path = {int(step): kept.detach() for step, kept in values["path"].items()}

    def _forget(self) -> None:
        self.path, self.spacing = {}, 1

    def _thin_out(self) -> None:
        while len(self.path) > self.room:
            self.spacing *= 2
            self.path = {step: kept for step, kept in self.path.items() if step % self.spacing == 0}

    def _snapshot(self, state: TrainState) -> Tensor:
        """Training's weights one after the other, (P,), also while the model holds their mean."""
        aside = {} if state.average is None else state.average.aside
        weights = [aside.get(name, weight) for name, weight in self.moved.items()]
        return torch.cat([weight.detach().reshape(-1).float() for weight in weights])

    def _kept(self, path: dict[int, Tensor]) -> KeptPath:
        shapes = [weight.shape for weight in self.moved.values()]
        sizes = [shape.numel() for shape in shapes]
        snapshots = [torch.split(kept.cpu(), sizes) for kept in path.values()]
        return KeptPath(
            steps=tuple(path),
            weights={
                name: torch.stack(parts).reshape(len(path), *shape)
                for name, shape, *parts in zip(self.moved, shapes, *snapshots, strict=True)
            },
        )
