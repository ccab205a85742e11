"""A lock that one process holds: told from outside, let go by a kill, not inherited by a fork."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.core.files import process_lock
from netwright.core.files.inside import Folder
from netwright.core.files.process_lock import ProcessLock, is_locked
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


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_hold_what_its_parent_holds(tmp_path: Path) -> None:
    """What it opens next may have the number of the parent's lock: that is not the lock's."""
    with ProcessLock(tmp_path / "x") as lock:
        child = os.fork()
        if child == 0:
            os.dup2(0, lock.handle)
            lock.release()
            os._exit(lock.is_held or not _is_open(lock.handle))
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert lock.is_held


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True


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


@contextmanager
def without_streams(*streams: int) -> Iterator[None]:
    """A process whose standard streams are closed: files have their numbers."""
    kept = [os.dup(stream) for stream in streams]
    for stream in streams:
        os.close(stream)
    try:
        yield
    finally:
        for stream, copy in zip(streams, kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)


def test_a_folder_is_guarded_also_where_there_is_no_standard_input(tmp_path: Path) -> None:
    """Then 0 is the number of the folder itself."""
    with without_streams(0), ProcessLock(tmp_path / "x", guarding=tmp_path):
        (tmp_path / "x").unlink()
        assert not ProcessLock(tmp_path / "x", guarding=tmp_path).acquire(wait=False)


def test_a_lock_that_nobody_took_is_not_held_whatever_numbers_files_have(tmp_path: Path) -> None:
    with without_streams(0, 1, 2), ExitStack() as locks:
        for name in "abc":
            locks.enter_context(ProcessLock(tmp_path / name))
        assert not ProcessLock(tmp_path / "other").is_held


def test_without_a_folder_to_lock_the_standard_streams_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has no descriptors of folders: only the file is locked there."""

    @contextmanager
    def by_path_alone(path: Path, inside: Path | None) -> Iterator[Folder]:
        yield Folder(path, None)

    monkeypatch.setattr(process_lock, "open_folder", by_path_alone)
    with ProcessLock(tmp_path / "x", guarding=tmp_path) as lock:
        assert lock.is_held
        assert not ProcessLock(tmp_path / "x", guarding=tmp_path).acquire(wait=False)
    assert not lock.is_held
    assert all(map(_is_open, (0, 1, 2)))


def test_a_guarded_folder_stays_locked_when_the_file_is_removed(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "x", guarding=tmp_path)
    with lock:
        (tmp_path / "x").unlink()
        assert not ProcessLock(tmp_path / "x", guarding=tmp_path).acquire(wait=False)
        assert not (tmp_path / "x").exists()
    assert lock.acquire(wait=False)
    lock.release()


def test_looking_at_a_lock_neither_takes_it_nor_lets_it_go(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path / "lock", guarding=tmp_path)
    assert not is_locked(tmp_path)
    with lock:
        assert is_locked(tmp_path) and is_locked(tmp_path)
    assert not is_locked(tmp_path) and lock.acquire(wait=False)
    lock.release()
