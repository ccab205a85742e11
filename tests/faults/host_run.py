"""One rank of a run on two hosts, started by torchrun: `-m tests.faults.host_run OUT NOTES BUG`.

At a step within an epoch the rank of the second host says that it is there, and waits until its
host is cut off; then it goes on, into a network that carries nothing.
"""

import sys
import time
from pathlib import Path

from netwright.train.callback import Callback
from netwright.train.state import TrainState
from tests.faults.rank_runs import Bug, train_rank
from tests.faults.test_rank_killed import generators_stay

STEP = 17  # of the second epoch of 12 steps
HERE, CUT = "here", "cut"
TIMEOUT = 30.0
# One GPU is not two: both hosts compute on the CPU, and so does the run they are compared with.
SETTINGS = {"epochs": 3, "device": "cpu"}
BUGS: dict[str, Bug | None] = {"none": None, "generators-stay": generators_stay}


class AwaitCut(Callback):
    """Waits, in the first life of the run, until the host is cut off."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def on_step_end(self, state: TrainState) -> None:
        if state.ranks.rank != 1 or state.step != STEP or (self.notes / CUT).exists():
            return
        (self.notes / HERE).touch()
        while not (self.notes / CUT).exists():
            time.sleep(0.02)


if __name__ == "__main__":
    out, notes, bug = sys.argv[1:]
    waits = AwaitCut(Path(notes))
    train_rank(Path(out), TIMEOUT, (), [waits], BUGS[bug], SETTINGS)
