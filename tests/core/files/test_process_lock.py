"""A lock that one process holds: told from outside, let go by a kill, not inherited by a fork."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.core.files import process_lock
from netwright.core.files.process_lock import ProcessLock
from tests.odd_files import ODD, is_untouched, outside_of, plant, refusal

HOLD = """
import sys, time
from pathlib import Path
from netwright.core.files.process_lock import ProcessLock
with ProcessLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_owner_is_told_no_until_the_first_lets_go(tmp_path: Path) -> None:
    first, second = ProcessLock(tmp_path / "x"), ProcessLock(tmp_path / "x")
    first.release()  # what nobody has taken
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


@pytest.mark.parametrize("kind", ODD)
def test_no_lock_is_taken_through_a_link_nor_on_what_is_no_file(tmp_path: Path, kind: str) -> None:
    (tmp_path / "run").mkdir()
    outside = outside_of(tmp_path / "run")
    plant(tmp_path / "run" / "x", kind, outside)
    with pytest.raises(DataError, match=refusal(tmp_path / "run" / "x", kind)):
        ProcessLock(tmp_path / "run" / "x").acquire()
    (tmp_path / "run" / "locks").symlink_to(outside)
    with pytest.raises(DataError, match=refusal(tmp_path / "run" / "locks", "link")):
        ProcessLock(tmp_path / "run" / "locks" / "x", inside=tmp_path / "run").acquire()
    assert is_untouched(outside)


def test_a_folder_in_the_place_of_the_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    with pytest.raises(DataError, match="study cannot be locked: Is a directory"):
        ProcessLock(tmp_path / "study").__enter__()


def test_a_file_that_is_removed_while_somebody_waits_is_not_the_one_to_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = process_lock._locked

    def late(handle: int, *, wait: bool) -> int:
        """Who holds it removes it, and another makes it anew, before this one has it."""
        monkeypatch.setattr(process_lock, "_locked", locked)
        (tmp_path / "x").unlink()
        return locked(handle, wait=wait)

    monkeypatch.setattr(process_lock, "_locked", late)
    with ProcessLock(tmp_path / "x") as lock:
        assert os.path.samestat(os.fstat(lock.handle), (tmp_path / "x").stat())
        assert not ProcessLock(tmp_path / "x").acquire(wait=False)


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors by /proc")
def test_a_file_that_is_not_the_one_to_hold_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, False, True])
    monkeypatch.setattr(os.path, "samestat", lambda first, second: next(answers))
    before = len(os.listdir("/proc/self/fd"))
    with ProcessLock(tmp_path / "x"):
        assert len(os.listdir("/proc/self/fd")) == before + 1
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors by /proc")
def test_a_wait_that_is_interrupted_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(fcntl, "flock", interrupt)
    for guarding in (None, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            ProcessLock(tmp_path / "x", guarding=guarding).acquire()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_is_guarded_also_where_there_is_no_standard_input(tmp_path: Path) -> None:
    """Then 0 is the number of the folder itself."""
    kept = os.dup(0)
    os.close(0)
    try:
        with ProcessLock(tmp_path / "x", guarding=tmp_path):
            (tmp_path / "x").unlink()
            assert not ProcessLock(tmp_path / "x", guarding=tmp_path).acquire(wait=False)
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_a_guarded_folder_stays_locked_when_the_file_is_removed(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "x", guarding=tmp_path)
    with lock:
        (tmp_path / "x").unlink()
        assert not ProcessLock(tmp_path / "x", guarding=tmp_path).acquire(wait=False)
        assert not (tmp_path / "x").exists()
    assert lock.acquire(wait=False)
    lock.release()
