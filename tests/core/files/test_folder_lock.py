"""The lock of a folder: one owner, named to the others, and gone when its process is."""

import errno
import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files.folder_lock import LOCK, FolderLock, Owner, owner_of
from tests.odd_files import is_untouched, outside_of, plant
from tests.odd_files import refusal as odd

HOST = os.uname().nodename


def refusal(folder: Path, owner: str) -> str:
    text = f"{folder} is in use by {owner}; wait for it to end, or give another folder"
    return f"^{re.escape(text)}$"


def test_the_owner_is_written_while_the_lock_is_held_and_no_longer(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        assert json.loads((tmp_path / LOCK).read_text()) == {"pid": os.getpid(), "host": HOST}
    assert (tmp_path / LOCK).read_bytes() == b""
    with FolderLock(tmp_path):
        pass


def test_a_second_lock_in_the_same_process_is_refused(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    for second in (FolderLock(tmp_path), first):
        with first:
            with pytest.raises(
                RunError, match=refusal(tmp_path, f"process {os.getpid()} on {HOST}")
            ):
                second.__enter__()
            with pytest.raises(RunError):  # the refused one did not free it
                FolderLock(tmp_path).__enter__()
    with FolderLock(tmp_path):
        pass


def test_two_folders_have_two_locks(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with FolderLock(tmp_path), FolderLock(tmp_path / "a"):
        owners = [(tmp_path / name / ".lock").read_text() for name in (".", "a")]
    assert all(f'"pid": {os.getpid()}' in owner for owner in owners)


def test_the_lock_ends_with_the_block_and_lets_its_error_through(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="first"), FolderLock(tmp_path) as lock:
        os.close(lock._lock.handle)  # the release fails too
        raise KeyError("first")
    with FolderLock(tmp_path):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"pid": 1}'])
def test_an_owner_that_cannot_be_read_is_another_process(tmp_path: Path, content: bytes) -> None:
    with FolderLock(tmp_path):
        (tmp_path / LOCK).write_bytes(content)
        with pytest.raises(RunError, match=refusal(tmp_path, "another process")):
            FolderLock(tmp_path).__enter__()


def test_an_owner_that_has_not_written_its_name_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(seconds: float) -> None:
        (tmp_path / LOCK).write_text('{"pid": 7, "host": "there"}')

    with FolderLock(tmp_path):
        (tmp_path / LOCK).write_bytes(b"")
        monkeypatch.setattr("netwright.core.files.folder_lock.time.sleep", write)
        with pytest.raises(RunError, match=refusal(tmp_path, "process 7 on there")):
            FolderLock(tmp_path).__enter__()


@pytest.mark.parametrize("content", [b"", b'{"pid": 1, "host": "elsewhere"}', b"x" * 5000])
def test_what_a_dead_owner_left_in_the_file_does_not_matter(tmp_path: Path, content: bytes) -> None:
    (tmp_path / LOCK).write_bytes(content)
    with FolderLock(tmp_path):
        assert json.loads((tmp_path / LOCK).read_text()) == {"pid": os.getpid(), "host": HOST}


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    sentence = f"{folder} cannot be locked: No such file or directory"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        FolderLock(folder).__enter__()


def test_a_file_system_without_locks_is_used_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*args: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    with FolderLock(tmp_path):
        assert (tmp_path / ".lock").exists()


def test_a_lock_that_fails_is_refused_and_its_file_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(RunError, match="cannot be locked: Input/output error"):
        FolderLock(tmp_path).__enter__()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_takes_the_lock_without_a_word_on_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with FolderLock(tmp_path), pytest.raises(RunError, match=refusal(tmp_path, "another process")):
        FolderLock(tmp_path).__enter__()


FORK = """
import os, sys
from pathlib import Path
from netwright.core.files.folder_lock import LOCK, FolderLock, Owner, owner_of
folder = Path(sys.argv[1])
with FolderLock(folder):
    child = os.fork()
    if not child:
        others = [(folder / name).open("w") for name in "abc"]  # one gets the number of the lock
        for other in others:
            print("kept", file=other, flush=True)
        sys.exit()  # unwinds the block
    os.waitpid(child, 0)
    print(*((folder / name).read_text().strip() for name in "abc"))
    print(len((folder / LOCK).read_text()) > 0)
    try:
        FolderLock(folder).__enter__()
    except RuntimeError:
        print("still held")
"""


def test_a_forked_child_that_leaves_the_block_does_not_free_its_parents_lock(
    tmp_path: Path,
) -> None:
    said = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert said.stdout.split("\n") == ["kept kept kept", "True", "still held", ""]


@pytest.mark.parametrize("kind", ["link to a file", "dangling link", "pipe"])
def test_a_lock_that_is_no_file_is_refused_and_what_it_leads_to_not_emptied(
    tmp_path: Path, kind: str
) -> None:
    (tmp_path / "run").mkdir()
    outside = outside_of(tmp_path / "run")
    plant(tmp_path / "run" / LOCK, kind, outside)
    with pytest.raises(DataError, match=odd(tmp_path / "run" / LOCK, kind)):
        FolderLock(tmp_path / "run").__enter__()
    assert is_untouched(outside)
    (tmp_path / "run" / LOCK).unlink()
    with FolderLock(tmp_path / "run"):  # the refused one holds nothing
        pass


def test_deleting_the_lock_of_a_living_owner_lets_nobody_in(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        (tmp_path / LOCK).unlink()
        with pytest.raises(RunError, match=refusal(tmp_path, "another process")):
            FolderLock(tmp_path).__enter__()
        (tmp_path / LOCK).write_text("")
        with pytest.raises(RunError, match=refusal(tmp_path, "another process")):
            FolderLock(tmp_path).__enter__()
    with FolderLock(tmp_path):
        pass


def test_the_lock_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with FolderLock(tmp_path):
            assert (tmp_path / LOCK).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_others_see_who_owns_a_folder_and_that_nobody_does(tmp_path: Path) -> None:
    assert owner_of(tmp_path) is None
    with FolderLock(tmp_path):
        assert owner_of(tmp_path) == Owner(os.getpid(), HOST)
        with pytest.raises(RunError), FolderLock(tmp_path):
            pass  # to look has not let go of it
    assert owner_of(tmp_path) is None


def test_what_a_killed_owner_wrote_is_no_owner(tmp_path: Path) -> None:
    for pid in (os.getpid(), 2**30, 1, -5, True, "7"):
        (tmp_path / LOCK).write_text(json.dumps({"pid": pid, "host": HOST}))
        assert owner_of(tmp_path) is None
    (tmp_path / LOCK).write_text("[]")
    assert owner_of(tmp_path) is None
