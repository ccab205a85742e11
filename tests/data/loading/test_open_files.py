"""Descriptors of many files: few stay open, those in use are never closed."""

import os
from pathlib import Path

import pytest

from netwright.data.loading import open_files
from netwright.data.loading.open_files import OpenFiles, read_into


def test_few_files_stay_open_and_none_is_closed_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "MOST_OPEN", 2)
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode())
    files: OpenFiles[str] = OpenFiles(lambda name: os.open(tmp_path / name, os.O_RDONLY))
    with files.using("a") as first:
        for name in "bc":
            with files.using(name) as handle:
                assert os.pread(handle, 9, 0) == name.encode()
        assert list(files.open) == ["b", "c"] and os.pread(first, 9, 0) == b"a"
    with files.using("b"), files.using("a"):
        assert list(files.open) == ["b", "a"]  # c was used least
    handle = files.using("a").number
    files.open.clear()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


@pytest.mark.parametrize("are_copies", [False, True])
def test_copies_that_were_removed_are_closed_when_another_is_opened(
    tmp_path: Path, are_copies: bool
) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(name.encode())
    files: OpenFiles[str] = OpenFiles(
        lambda name: os.open(tmp_path / name, os.O_RDONLY), are_copies=are_copies
    )
    with files.using("a") as first:
        files.using("b")
        (tmp_path / "a").unlink()
        (tmp_path / "b").unlink()
        assert os.pread(first, 9, 0) == b"a" and list(files.open) == ["a", "b"]
        files.using("c")
        assert list(files.open) == (["c"] if are_copies else ["a", "b", "c"])
        assert files.using("a").number == first  # who uses it goes on with it


def test_bytes_are_read_by_position(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    handle = os.open(tmp_path / "a", os.O_RDONLY)
    target = bytearray(4)
    assert read_into(handle, memoryview(target), 3) == 4 and target == b"3456"
    assert read_into(handle, memoryview(target), 8) == 2 and target == b"8956"
    os.close(handle)
