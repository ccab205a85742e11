"""The bytes of files: unpacked as they are, and no more of them than they may come to together."""

import gzip
import os
import re
import tracemalloc
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.files import file_content
from netwright.data.files.file_content import Allowance, read_content

# Four bytes a row that repeat: gzip makes 1 of 1,000.
ROWS = b"1,2\n"
WAY_OUT = (
    "unpacks to far more than its size, at most 100 times the packed bytes are allowed; if you "
    "trust it, raise NETWRIGHT_MAX_UNPACK_RATIO, or unpack it yourself"
)


def bomb(path: Path, size: int) -> Path:
    """A gzip file that unpacks to so many bytes, made of parts so that it is made at once."""
    part = gzip.compress(ROWS * 2**18, mtime=0)
    path.write_bytes(part * (size // 2**20))
    return path


@pytest.mark.parametrize("content", [b"", b"abc", os.urandom(3 * 2**20)])
def test_packed_or_not_the_bytes_are_the_same(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "a.GZ").write_bytes(gzip.compress(content))
    assert read_content(tmp_path / "a") == read_content(tmp_path / "a.GZ") == content


def test_a_bomb_is_refused_and_its_limit_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**21)
    path = bomb(tmp_path / "a.csv.gz", 2**23)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path} {WAY_OUT}')}$"):
        read_content(path)
    monkeypatch.setenv("NETWRIGHT_MAX_UNPACK_RATIO", "2000")
    assert len(read_content(path)) == 2**23


def test_many_small_bombs_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**22)
    allowance = Allowance()
    paths = [bomb(tmp_path / f"{place}.gz", 2**21) for place in range(8)]
    with pytest.raises(DataError, match=r"2\.gz unpacks to far more than its size"):
        for path in paths:
            read_content(path, allowance)
    for path in paths:
        read_content(path)  # each alone is small


def test_files_have_a_limit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_CONTENT_GB", "1e-6")
    (tmp_path / "a").write_bytes(b"x" * 600)
    allowance = Allowance()
    read_content(tmp_path / "a", allowance)
    with pytest.raises(DataError) as refusal:
        read_content(tmp_path / "a", allowance)
    assert str(refusal.value) == (
        f"{tmp_path / 'a'} and the files read with it have 1.2e-06 GB, at most 1e-06 GB are "
        f"allowed; "
        "if you trust it, raise NETWRIGHT_MAX_CONTENT_GB"
    )
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x" * 1200))
    with pytest.raises(DataError, match=r"have 1\.2e-06 GB"):
        read_content(tmp_path / "a.gz")


def test_a_file_with_holes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        file.truncate(10**13)
    with pytest.raises(DataError, match=r"have 10,000 GB, at most 4 GB are allowed"):
        read_content(tmp_path / "a.csv")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(DataError, match="is a pipe or socket, wanted a regular file"):
        read_content(tmp_path / "a.txt")


def test_a_real_bomb_stays_small_in_memory(tmp_path: Path) -> None:
    path = bomb(tmp_path / "a.csv.gz", 2**30)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="unpacks to far more than its size"):
            read_content(path)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
