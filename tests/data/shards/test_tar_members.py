"""The members of tar files: as Python's tarfile finds them, and refusals of what is damaged."""

import os
import tarfile
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.shards.tar_members import Member, tar_members
from tests.data.shards.written_shards import write_members


def found(path: Path) -> list[Member]:
    handle = os.open(path, os.O_RDONLY)
    try:
        return list(tar_members(handle, path.stat().st_size, path.name))
    finally:
        os.close(handle)


LONG = "/".join(["folder" * 10] * 3)


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_are_those_of_tarfile(tmp_path: Path, kind: int) -> None:
    names = ["a.png", "b/ä.cls", "c.json", *([f"{LONG}/{LONG}.png"] * (kind != 0)), f"{LONG}.png"]
    sizes = [0, 1, 511, 512, 513][: len(names)]
    members = [(name, bytes([n % 256]) * n) for name, n in zip(names, sizes, strict=True)]
    path = write_members(tmp_path / "a.tar", members, kind)
    with tarfile.open(path) as tar:
        theirs = [Member(one.name, one.offset_data, one.size) for one in tar]
    assert found(path) == theirs and len(theirs) == len(names)
    content = path.read_bytes()
    assert [content[one.start : one.start + one.size] for one in theirs] == [c for _, c in members]


def test_folders_are_passed_over_and_links_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        about = tarfile.TarInfo("folder")
        about.type = tarfile.DIRTYPE
        tar.addfile(about)
    assert found(tmp_path / "a.tar") == []
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        with tarfile.open(tmp_path / "b.tar", "w") as tar:
            about = tarfile.TarInfo("x\n.png")
            about.type, about.linkname = kind, "/etc/passwd"
            tar.addfile(about)
        with pytest.raises(DataError, match=r"b.tar holds 'x\\\\n.png', which is a link"):
            found(tmp_path / "b.tar")


def test_what_is_cut_short_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    whole = write_members(tmp_path / "a.tar", [("a.png", b"1" * 600), ("b.png", b"2")]).read_bytes()
    last = 512 + 1024 + 512 + 512
    for size in [0, 100, 512, 700, 1536, 1600, 2048, last]:  # also between two members
        (tmp_path / "b.tar").write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"b.tar (has no end|says that .* but ends after)"):
            found(tmp_path / "b.tar")
    (tmp_path / "b.tar").write_bytes(whole[: last + 512])
    assert len(found(tmp_path / "b.tar")) == 2


def spoiled(tmp_path: Path, kind: bytes, size: bytes) -> Path:
    """A file whose first header has this type and size, and a sum that is right."""
    header = bytearray(write_members(tmp_path / "a.tar", [("a.png", b"1")]).read_bytes())
    header[156:157], header[124:136], header[148:156] = kind, size, b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    path = tmp_path / "b.tar"
    path.write_bytes(header)
    return path


def test_sizes_that_lie_are_refused(tmp_path: Path) -> None:
    for size in (b"77777777777\0", b"\x80" + b"\x7f" * 11):
        with pytest.raises(DataError, match=r"b.tar says that 'a.png' has [\d,]+ bytes, but ends"):
            found(spoiled(tmp_path, b"0", size))
    path = spoiled(tmp_path, b"x", b"00040000000\0")
    os.truncate(path, 2**24)  # full of nothing: the header has as many bytes as it says
    with pytest.raises(DataError, match=r"a header of 8,388,608 bytes at byte 0, at most"):
        found(path)


@pytest.mark.parametrize("size", [b"-1000", b"+1", b"1_0", b"8", b"1 1"])
def test_sizes_are_octal_digits_alone(tmp_path: Path, size: bytes) -> None:
    path = spoiled(tmp_path, b"0", size.ljust(12, b"\0"))
    handle = os.open(path, os.O_RDONLY)
    with pytest.raises(DataError, match=r"b.tar is no tar file, or is damaged at byte 0"):
        next(tar_members(handle, path.stat().st_size, path.name))  # "-1000" leads back for ever
    os.close(handle)


def test_what_is_no_tar_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    for content in (b"x" * 2000, b"\xff" * 700, b"\x89PNG" + bytes(600)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"b.tar is no tar file, or is damaged at byte 0"):
            found(path)
