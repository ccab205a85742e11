"""A lock that one process holds: told from outside, let go by a kill, not inherited by a fork."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netwright.core.process_lock import ProcessLock

HOLD = """
import sys, time
from pathlib import Path
from netwright.core.process_lock import ProcessLock
with ProcessLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_owner_is_told_no_until_the_first_lets_go(tmp_path: Path) -> None:
    first, second = ProcessLock(tmp_path / "x"), ProcessLock(tmp_path / "x")
    with first:
        assert not second.acquire(wait=False)
    assert second.acquire(wait=False)
    second.release()
    second.release()  # once more is nothing
    assert first.acquire(wait=False)
    first.release()


def test_a_killed_owner_holds_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLD, str(tmp_path / "x")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        told = owner.stdout.readline()
        lock = ProcessLock(tmp_path / "x")
        taken = lock.acquire(wait=False)
        owner.kill()
        owner.wait()
        assert (told, taken) == ("held\n", False)
        assert lock.acquire()
        lock.release()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_that_outlives_its_parent_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "x")
    lock.acquire()
    ready, started = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(started, b"x")
        time.sleep(30)
        os._exit(0)
    try:
        os.read(ready, 1)
        lock.release()
        again = ProcessLock(tmp_path / "x")
        assert again.acquire(wait=False)
        again.release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(started)
