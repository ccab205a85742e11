"""A run for TensorBoard: event files with scalars, the settings as text and as hyperparameters.

tensorboard --logdir runs            every run below, side by side
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from netwright.train.trackers.tracker import FINAL, Measured, TrackedRun, Tracker


class TensorBoardTracker(Tracker):
    """Writes by torch's own `SummaryWriter`."""

    package: ClassVar[str] = "tensorboard"

    def __init__(self, folder: Path, run: TrackedRun) -> None:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - optional

        self.run = run
        self.writer = SummaryWriter(str(folder))
        rows = "".join(f"| {name} | {value} |\n" for name, value in run.settings.items())
        self.writer.add_text("settings", f"| setting | value |\n|---|---|\n{rows}", 0)

    def write(self, rows: Sequence[Measured]) -> None:
        """One scalar a row, at its step and its time."""
        for row in rows:
            self.writer.add_scalar(row.key, row.value, row.step, self.run.started + row.time)
        self.writer.flush()

    def finish(self, metrics: Mapping[str, float], step: int) -> None:
        """The measures beside the settings, for the page of hyperparameters."""
        found = {f"{FINAL}/{name}": value for name, value in metrics.items()}
        # By default it would be a run of its own, in a folder named by the clock.
        self.writer.add_hparams(dict(self.run.settings), found, run_name=".", global_step=step)

    def close(self) -> None:
        """Close the event file."""
        self.writer.close()
