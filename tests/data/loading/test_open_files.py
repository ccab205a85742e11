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


def test_bytes_are_read_by_position(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    handle = os.open(tmp_path / "a", os.O_RDONLY)
    target = bytearray(4)
    assert read_into(handle, memoryview(target), 3) == 4 and target == b"3456"
    assert read_into(handle, memoryview(target), 8) == 2 and target == b"8956"
    os.close(handle)
