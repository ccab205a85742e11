"""Files that are named: regular ones are opened, also by links; pipes and devices are refused."""

import os
import re
import socket
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.core.files.regular_file import check_regular, open_regular


def test_a_file_is_opened_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for name in ("a", "link"):
        with open_regular(tmp_path / name) as file:
            assert file.read() == b"content"
    check_regular(tmp_path)


def test_what_is_not_there_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "a")
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


@pytest.mark.parametrize("by_link", [False, True])
@pytest.mark.parametrize("kind", ["pipe or socket", "device"])
def test_what_is_endless_is_refused_by_its_kind(tmp_path: Path, kind: str, by_link: bool) -> None:
    place = tmp_path / "pipe" if kind != "device" else Path("/dev/zero")
    if kind != "device":
        os.mkfifo(place)
    if by_link:
        (tmp_path / "link").symlink_to(place)
        place = tmp_path / "link"
    sentence = f"{place} is a {kind}, wanted a regular file"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        open_regular(place)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("s")
        with pytest.raises(DataError, match=r"^s is a pipe or socket, wanted a regular file$"):
            open_regular("s")
