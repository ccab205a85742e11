"""Fetching over a real loopback server: whole files arrive, and nothing else is left behind."""

import hashlib
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError, DownloadError
from netwright.core.terminal.console import Bar
from netwright.data.files import download
from netwright.data.files.download import RemoteFile, fetch, is_offline
from tests.data.loopback import (
    CONTENT,
    Answer,
    Server,
    goes_nowhere,
    is_missing,
    lacks_a_length,
    pours,
    redirects,
    sends,
    serving,
)
from tests.repetition import for_each


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, no search path, no proxy between us and the loopback."""
    for name in ("NETWRIGHT_DATA", "NETWRIGHT_OFFLINE", "http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    return tmp_path / "data/toy"


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def refusal(file: RemoteFile, **settings: Any) -> str:
    with pytest.raises(DownloadError) as refused:
        fetch("toy", file, **settings)
    return str(refused.value)


def test_a_whole_file_arrives_in_the_cache_and_is_asked_for_once(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server.answers["/good"] = sends(CONTENT)
    file = server.file("/good")
    place = fetch("toy", file)
    assert place == cache / "file.gz"
    assert place.read_bytes() == CONTENT
    assert files_in(cache) == ["file.gz"]
    assert fetch("toy", file) == place
    assert server.asked == ["/good"]
    assert capfd.readouterr() == ("", "")  # quiet where there is no terminal


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_file_has_the_mode_that_the_umask_leaves(server: Server, umask: int) -> None:
    server.answers["/good"] = sends(CONTENT)
    before = os.umask(umask)
    try:
        place = fetch("toy", server.file("/good"))
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_file_on_the_search_path_needs_no_network(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own/toy/file.gz"
    own.parent.mkdir(parents=True)
    own.write_bytes(CONTENT)
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path / "own"))
    assert fetch("toy", server.file("/never")) == own
    assert (server.asked, files_in(cache)) == ([], [])


WRONG = bytes(len(CONTENT))
SIZE, SUM = len(CONTENT), hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (sends(WRONG), f"wanted sha256 {SUM}, got {hashlib.sha256(WRONG).hexdigest()}"),
        (sends(CONTENT[:500]), f"wanted {SIZE} bytes, got 500"),
        (lacks_a_length, f"wanted {SIZE} bytes, got 100"),
        (sends(CONTENT + b"!"), f"wanted {SIZE} bytes, got more"),
        (pours, f"wanted {SIZE} bytes, got more"),
        (is_missing, "wanted HTTP status 200, got 404"),
        (goes_nowhere, "wanted HTTP status 200, got 302"),
        (redirects("/bad"), "wanted at most 5 redirects, got more"),
        (
            redirects("file:///etc/hostname"),
            "wanted a redirect to https, got 'file:///etc/hostname'",
        ),
        (
            redirects("ftp://127.0.0.1/file"),
            "wanted a redirect to https, got 'ftp://127.0.0.1/file'",
        ),
    ],
)
def test_refuses_what_is_not_the_published_file_and_leaves_nothing(
    server: Server, cache: Path, answer: Answer, reason: str
) -> None:
    server.answers["/bad"] = answer
    sentence = f"toy/file.gz could not be fetched: {server.address}/bad: {reason}"
    assert refusal(server.file("/bad")) == sentence
    assert files_in(cache) == []


def test_a_body_shorter_than_its_header_says_is_refused(server: Server, cache: Path) -> None:
    server.answers["/short"] = sends(CONTENT[:500], length=SIZE)
    said = refusal(server.file("/short"))
    assert said.startswith(f"toy/file.gz could not be fetched: {server.address}/short: ")
    assert "500" in said
    assert files_in(cache) == []


def test_a_server_that_hangs_is_given_up(server: Server, cache: Path) -> None:
    def hangs(request: BaseHTTPRequestHandler) -> None:
        server.stopped.wait()

    def stops_half_way(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(CONTENT[:500])
        server.stopped.wait()

    server.answers |= {"/hangs": hangs, "/half": stops_half_way}
    said = refusal(server.file("/hangs", "/half"), timeout=0.2)
    assert said == (
        f"toy/file.gz could not be fetched: {server.address}/hangs: timed out; "
        f"{server.address}/half: timed out"
    )
    assert files_in(cache) == []


def test_nobody_at_the_address_is_refused(cache: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound but not listening: connections are turned away
        address = f"http://127.0.0.1:{free.getsockname()[1]}/file.gz"
        file = RemoteFile(name="file.gz", addresses=(address,), size=1, sha256="")
        assert re.search("Connection refused$", refusal(file))
    assert files_in(cache) == []


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://127.0.0.1/x", "file.gz"])
def test_an_address_outside_the_web_is_refused(cache: Path, address: str) -> None:
    said = refusal(RemoteFile(name="file.gz", addresses=(address,), size=1, sha256=""))
    assert said.startswith(f"toy/file.gz could not be fetched: {address}: unknown url type")
    assert files_in(cache) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(server: Server, status: int) -> None:
    server.answers |= {"/old": redirects("/new", status), "/new": sends(CONTENT)}
    assert fetch("toy", server.file("/old")).read_bytes() == CONTENT
    assert server.asked == ["/old", "/new"]


def test_five_redirects_are_followed_but_not_six(server: Server) -> None:
    for hop in range(6):
        server.answers[f"/{hop}"] = redirects(f"/{hop + 1}")
    server.answers["/6"] = sends(CONTENT)
    assert refusal(server.file("/0")).endswith("wanted at most 5 redirects, got more")
    assert fetch("toy", server.file("/1")).read_bytes() == CONTENT


@for_each(
    ("address", "target", "allowed"),
    [
        ("http://a", "http://b", True),
        ("http://a", "https://b", True),
        ("https://a", "https://b", True),
        ("https://a", "http://b", False),
        ("http://a", "file:///b", False),
        ("https://a", "data:,b", False),
    ],
)
def test_a_redirect_never_steps_down(address: str, target: str, allowed: bool) -> None:
    if allowed:
        assert download._redirected(address, target) == target
    else:
        sentence = f"^wanted a redirect to https, got {target!r}$"
        with pytest.raises(DownloadError, match=sentence):
            download._redirected(address, target)


def test_the_second_address_is_used_after_the_first_fails(server: Server, cache: Path) -> None:
    server.answers |= {"/gone": is_missing, "/torn": sends(CONTENT[:9]), "/good": sends(CONTENT)}
    place = fetch("toy", server.file("/gone", "/torn", "/good", "/never"))
    assert place.read_bytes() == CONTENT
    assert server.asked == ["/gone", "/torn", "/good"]
    assert files_in(cache) == ["file.gz"]


def test_a_damaged_file_in_the_cache_is_fetched_anew(server: Server, cache: Path) -> None:
    server.answers["/good"] = sends(CONTENT)
    cache.mkdir(parents=True)
    for damaged in (CONTENT[:-1], WRONG):
        (cache / "file.gz").write_bytes(damaged)
        assert fetch("toy", server.file("/good")).read_bytes() == CONTENT
    assert server.asked == ["/good", "/good"]


def test_a_damaged_file_stays_where_no_better_one_is_had(server: Server, cache: Path) -> None:
    server.answers["/gone"] = is_missing
    cache.mkdir(parents=True)
    (cache / "file.gz").write_bytes(WRONG)
    refusal(server.file("/gone"))
    assert files_in(cache) == ["file.gz"]


def test_a_damaged_file_of_the_users_is_refused_and_left(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "own/toy/file.gz"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"short")
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path / "own"))
    sentence = f"{own} is damaged: wanted {SIZE} bytes, got 5"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        fetch("toy", server.file("/never"))
    assert (own.read_bytes(), server.asked) == (b"short", [])


def test_a_file_that_cannot_be_read_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def forbidden(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    own = tmp_path / "own/toy/file.gz"
    own.parent.mkdir(parents=True)
    own.write_bytes(CONTENT)
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path / "own"))
    monkeypatch.setattr(download, "sha256_of", forbidden)
    sentence = f"{own} is damaged: it cannot be read: Permission denied"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        fetch("toy", server.file("/never"))


def test_a_cache_that_cannot_be_written_to_is_refused(
    server: Server, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").write_bytes(b"a file where the folder should be")
    assert refusal(server.file("/never")) == f"{cache} cannot be written to: Not a directory"
    assert server.asked == []


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **settings: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("no_sockets")
def test_offline_opens_no_socket_and_says_where_the_file_belongs(cache: Path) -> None:
    file = RemoteFile(name="file.gz", addresses=("http://127.0.0.1:1/x",), size=SIZE, sha256=SUM)
    assert refusal(file) == (
        "toy is not on this machine and NETWRIGHT_OFFLINE is set; put file.gz into "
        f"{cache} or into toy/ in a folder of NETWRIGHT_DATA"
    )
    cache.mkdir(parents=True)
    (cache / "file.gz").write_bytes(b"short")
    assert refusal(file).startswith(
        f"toy is damaged (wanted {SIZE} bytes, got 5) and NETWRIGHT_OFFLINE is set; put file.gz"
    )
    (cache / "file.gz").write_bytes(CONTENT)
    assert fetch("toy", file) == cache / "file.gz"


@pytest.mark.parametrize(
    ("value", "offline"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_what_counts_as_offline(monkeypatch: pytest.MonkeyPatch, value: str, offline: bool) -> None:
    monkeypatch.setenv("NETWRIGHT_OFFLINE", value)
    assert is_offline() is offline


@pytest.mark.slow
def test_two_processes_may_fetch_at_once(server: Server, cache: Path) -> None:
    both = threading.Barrier(2)

    def waits_for_the_other(request: BaseHTTPRequestHandler) -> None:
        both.wait(timeout=600)  # both processes have found the cache empty
        sends(CONTENT)(request)

    server.answers["/good"] = waits_for_the_other
    file = server.file("/good")
    names = "from netwright.data.files.download import RemoteFile, fetch"
    script = f"{names}; print(fetch('toy', {file!r}))"
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=600)[0] for process in running]
    assert said == [f"{cache / 'file.gz'}\n"] * 2
    assert (cache / "file.gz").read_bytes() == CONTENT
    assert files_in(cache) == ["file.gz"]


def test_an_interrupted_download_leaves_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Impatient(Bar):
        def move(self, step: int, text: str) -> None:
            if step > 0:
                raise KeyboardInterrupt

    monkeypatch.setattr(download, "Bar", Impatient)
    server.answers["/good"] = sends(CONTENT)
    with pytest.raises(KeyboardInterrupt):
        fetch("toy", server.file("/good"))
    assert files_in(cache) == []


def test_the_bar_names_the_file_from_the_start(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []

    class Watched(Bar):
        def __init__(self, total: int | None, *, text: str = "training") -> None:
            said.append((total, text))
            super().__init__(total, text=text)

    monkeypatch.setattr(download, "Bar", Watched)
    server.answers["/good"] = sends(CONTENT)
    fetch("toy", server.file("/good"))
    assert said == [(len(CONTENT), "file.gz")]


def test_it_says_who_asks(server: Server) -> None:
    agents = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        agents.append(request.headers["User-Agent"])
        sends(CONTENT)(request)

    server.answers["/good"] = answer
    fetch("toy", server.file("/good"))
    assert agents == ["netwright"]


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors by /proc")
def test_no_descriptor_stays_open(server: Server) -> None:
    server.answers["/good"] = sends(CONTENT)
    fetch("toy", server.file("/good"))
    held = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert not [path for path in held if "file.gz" in path]
