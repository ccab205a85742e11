"""Save the run every few epochs and at its end; keep the newest few and the best."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from netwright.core.storage import write_json
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.checkpoint import save_checkpoint
from netwright.train.state import TrainState


class SaveCheckpoints(Callback):
    """Writes `checkpoints/step-000100/`, `last.json` and `best.json` into a run folder.

    Only folders that this object wrote are ever deleted.

    Args:
        folder: the run folder.
        watched: the callbacks whose state is saved too.
        best: knows which step is the best, or None.
        every: epochs between two saves.
        keep: how many of the newest to keep, beside the best.
    """

    def __init__(
        self,
        folder: Path,
        *,
        watched: Sequence[Callback] = (),
        best: EarlyStopping | None = None,
        every: int = 1,
        keep: int = 2,
    ) -> None:
        self.folder, self.watched, self.best = folder, tuple(watched), best
        self.every, self.keep = every, keep
        self.saved: list[int] = []
        self.best_saved: int | None = None  # what best.json names

    def on_epoch_end(self, state: TrainState) -> None:
        """Save when it is time."""
        if state.epoch % self.every == 0:
            self.save(state)

    def on_fit_end(self, state: TrainState) -> None:
        """Save the last moment, unless it is saved already."""
        if state.step and state.step not in self.saved:
            self.save(state)

    def save(self, state: TrainState) -> None:
        """Write a checkpoint, move the pointers, then drop what is no longer wanted."""
        checkpoints = self.folder / "checkpoints"
        checkpoints.mkdir(exist_ok=True)
        save_checkpoint(checkpoints / step_name(state.step), state, self.watched)
        # float16 may skip all the steps of an epoch: then the same step is saved again.
        self.saved = [step for step in self.saved if step != state.step] + [state.step]
        write_json(self.folder / "last.json", {"checkpoint": step_name(state.step)})
        best_step = self.best.best_step if self.best is not None else state.step
        if best_step in self.saved:
            self.best_saved = best_step
            write_json(self.folder / "best.json", {"checkpoint": step_name(best_step)})
        for step in self.saved[: -self.keep]:
            if step != self.best_saved:
                shutil.rmtree(checkpoints / step_name(step), ignore_errors=True)
                self.saved.remove(step)


def step_name(step: int) -> str:
    """The folder's name for a step: sorted by name is sorted by step."""
    return f"step-{step:06d}"
