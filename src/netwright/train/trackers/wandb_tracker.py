"""A run for Weights & Biases, offline: a file that `wandb sync` uploads if one asks it to.

    wandb sync runs/mlp-digits-001/tracking/wandb/wandb/offline-run-*

It is always offline here, whatever the environment says, and writes neither the name of the machine
and its user nor code. A run that is resumed keeps its id, so that it stays one run there.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from netwright.core.environment import environment
from netwright.train.trackers.tracker import FINAL, Measured, TrackedRun, Tracker

PROJECT = "netwright"


class WandbTracker(Tracker):
    """Writes by `wandb.init(mode="offline")`."""

    package: ClassVar[str] = "wandb"

    def __init__(self, folder: Path, run: TrackedRun) -> None:
        with environment(WANDB_ERROR_REPORTING="false"):  # or it reports errors to its makers
            import wandb  # noqa: PLC0415 - optional

        self.run = wandb.init(
            project=PROJECT,
            id=run.id,
            name=run.name,
            dir=str(folder),
            mode="offline",
            config=dict(run.settings),
            reinit="create_new",  # a run that the caller has open stays open
            settings=wandb.Settings(
                host="localhost",
                username="user",
                console="off",
                silent=True,
                symlink=False,
                disable_git=True,
                disable_code=True,
                save_code=False,
                x_disable_meta=True,
                x_disable_stats=True,
                x_disable_machine_info=True,
                x_save_requirements=False,
            ),
        )
        _remove_links(folder)

    def write(self, rows: Sequence[Measured]) -> None:
        """The rows of a step together, with the epoch."""
        for step, of_step in groupby(rows, key=lambda row: row.step):
            together = list(of_step)
            values = {row.key: row.value for row in together}
            self.run.log({**values, "epoch": together[-1].epoch}, step=step)

    def finish(self, metrics: Mapping[str, float], step: int) -> None:
        """The measures into the summary."""
        self.run.summary.update({f"{FINAL}/{name}": value for name, value in metrics.items()})

    def close(self) -> None:
        """Write what is left, and end the process that writes."""
        self.run.finish()


def _remove_links(folder: Path) -> None:
    """Remove the link to a log outside the folder, which W&B makes whatever `symlink` says."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            path.unlink()
