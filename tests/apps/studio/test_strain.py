"""A studio under strain: a thousand streams, clients that stall, a killed run, a full disk."""

import asyncio
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.apps.studio.conftest import Open

pytest.importorskip("uvicorn")

from netwright.apps.server import running
from netwright.recipes.saved.run_notes import note_run
from tests.apps.studio.test_opening import first_line
from tests.recipes.saved.test_run_list import begun

STREAMS, HALF_OPEN, SLOW, DEAF = 1000, 200, 50, 20


def test_the_limit_of_files_is_raised_as_far_as_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    most = running.MOST_CONNECTIONS + running.OWN_FILES
    for limits, wanted in (
        ((1024, 20_000), [(most, 20_000)]),
        ((1024, 3000), [(3000, 3000)]),
        ((10_000, 20_000), []),
        ((1024, resource.RLIM_INFINITY), [(most, resource.RLIM_INFINITY)]),
    ):
        asked: list[tuple[int, int]] = []
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        monkeypatch.setattr(resource, "setrlimit", lambda _, new, asked=asked: asked.append(new))
        running.raise_file_limit()
        assert asked == wanted


def test_a_full_disk_is_told_in_a_sentence_and_the_studio_goes_on(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = studio()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    asked = {"run": "runs/mlp-2-0", "tags": ["a"], "note": ""}
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        answer = visitor.post("/api/note", asked)
        assert answer.status in {400, 507} and "No space left" in answer.json["error"]
        started = visitor.post("/api/train", {"data": "moons", "model": "mlp", "settings": {}})
        assert started.status < 500 or started.status == 507
    assert visitor.get("/api/runs").status == 200
    assert visitor.post("/api/note", asked).status == 200


@contextmanager
def opened(folder: Path) -> Iterator[tuple[tuple[str, int], str]]:
    """A studio in a process of its own that may have few files at first: its place, the cookie."""
    limited = ["bash", "-c", 'ulimit -Sn 256; exec "$@"', "bash"]
    words = [sys.executable, "-m", "netwright", "studio", str(folder), "--port", "0"]
    process = subprocess.Popen([*limited, *words], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        address = urlsplit(first_line(process).split(": ", 1)[1].strip())
        place = ("127.0.0.1", address.port or 0)
        client = HTTPConnection(*place, timeout=120)
        client.request("GET", f"{address.path}?{address.query}")
        cookie = str(client.getresponse().headers["set-cookie"]).partition(";")[0]
        client.close()
        yield place, cookie
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 143
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def state_of(place: tuple[str, int], cookie: str) -> Any:
    client = HTTPConnection(*place, timeout=120)
    client.request("GET", "/api/runs", headers={"Cookie": cookie})
    reply = client.getresponse()
    assert reply.status == 200
    told = json.loads(reply.read())
    client.close()
    return told


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(place: tuple[str, int], sent: bytes, count: int) -> list[Connection]:
    """So many connections, each of which has sent this."""
    made = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection(*place, limit=2**20)
        writer.write(sent)
        made.append((reader, writer))
    return made


async def trickle(connections: list[Connection]) -> None:
    """Send a request letter by letter, until cancelled."""
    for letter in b"GET /api/runs HTTP/1.1" * 100:
        for _, writer in connections:
            writer.write(bytes([letter]))
        await asyncio.sleep(0.2)


async def until(connection: Connection, word: bytes) -> None:
    """Read lines up to one with this word."""
    while word not in await connection[0].readline():
        pass


async def strain(place: tuple[str, int], cookie: str, run: Path) -> None:
    """A thousand streams see a run change, while others stall."""
    host = f"Host: 127.0.0.1:{place[1]}\r\nCookie: {cookie}\r\n\r\n"
    asked = f"GET /api/events HTTP/1.1\r\n{host}".encode()
    half_open = await connected(place, b"GET /api/ev", HALF_OPEN)
    slow = await connected(place, b"", SLOW)
    deaf = await connected(place, asked, DEAF)  # they ask, and never read
    trickling = asyncio.create_task(trickle(slow))
    streams = await connected(place, asked, STREAMS)
    async with asyncio.timeout(240):
        await asyncio.gather(*(until(one, b'"runs": [') for one in streams))
        await asyncio.to_thread(state_of, place, cookie)
        note_run(run, tags=["seen-by-all"])
        await asyncio.gather(*(until(one, b"seen-by-all") for one in streams))
    trickling.cancel()
    for _, writer in (*half_open, *slow, *deaf, *streams):
        writer.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may hold the connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 4 * STREAMS:
        pytest.skip(f"this machine lets a process have {before[1]} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * STREAMS, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_a_thousand_streams_and_clients_that_stall_do_not_stop_it(tmp_path: Path) -> None:
    run = begun(tmp_path / "a")
    with opened(tmp_path) as (place, cookie):
        asyncio.run(strain(place, cookie, run))
        assert [one["tags"] for one in state_of(place, cookie)["runs"]] == [["seen-by-all"]]


@pytest.mark.slow
def test_a_training_process_that_is_killed_is_told_as_interrupted(tmp_path: Path) -> None:
    words = ["train", "mlp", "moons", "--epochs", "100000", "--quiet", "--out", "run"]
    training = subprocess.Popen([sys.executable, "-m", "netwright", *words], cwd=tmp_path)
    try:
        with opened(tmp_path) as (place, cookie):

            def wait_for(state: str) -> None:
                for _ in range(600):
                    if [run["state"] for run in state_of(place, cookie)["runs"]] == [state]:
                        return
                    threading.Event().wait(0.1)
                raise AssertionError(f"the run was never {state}")

            wait_for("training")
            training.kill()
            training.wait()
            wait_for("interrupted")
    finally:
        training.kill()
        training.wait()
