"""A run on a DataLoader of one's own that is killed in an epoch, and goes on in a new process.

Within one process, `test_loaders.py` stops such runs in an epoch.
"""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.train.state import TrainState
from tests.data.batches.loaders import noisy_loader
from tests.doors.test_loaders import net
from tests.faults.small_runs import left_behind
from tests.forked_ranks import FORKS

KILL_AT = 8  # updates; an epoch has six
TOO_LONG = 600.0  # seconds


def kill(state: TrainState) -> None:
    if state.step == KILL_AT:
        os.kill(os.getpid(), signal.SIGKILL)


def learn(workers: int, **settings: Any) -> None:
    loader = noisy_loader(num_workers=workers)
    nw.fit(
        net()(), loader, epochs=2, save_steps=1, log_every=1, device="cpu", quiet=True, **settings
    )


def in_new_process(workers: int, **settings: Any) -> int | None:
    process = FORKS.Process(target=learn, args=(workers,), kwargs=settings)
    process.start()
    process.join(TOO_LONG)
    return process.exitcode


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_goes_on_in_a_new_process_exactly(tmp_path: Path, workers: int) -> None:
    learn(workers, out=tmp_path / "whole")
    run = tmp_path / "run"
    killed = in_new_process(workers, out=run, callbacks={"on_step_end": kill})
    assert killed == -signal.SIGKILL
    assert in_new_process(workers, resume=run) == 0
    assert left_behind(run) == left_behind(tmp_path / "whole")
